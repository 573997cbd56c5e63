// Examples for the OpenAPI documents. They are parts of the demo tenant's menu.

const SECTION_TIMES = { created_at: '2026-11-02T09:12:40.118Z', updated_at: '2026-11-02T09:12:40.118Z' };
const KITCHEN_CARD = { id: '128a6f36-109d-8ac9-9c5e-8d88954fd4ad', name: 'Kitchen', is_active: true };
/** Dish of the demo tenant, with only some of its variants and add-ons. */
export const KORMA = {
  id: '0199aa10-3c00-70a1-b3f2-5d8e61c07a94',
  sku: 'TIMELESS-CLASSICS-KORMA',
  name: 'Korma',
  description: '',
  dish_type: null as string | null,
  price: '10.00',
  currency: 'EUR',
  is_active: true,
  is_taxable: true,
  extra_tax_percentage: '0.00',
  image: null,
  category: {
    id: '60bf8197-3a9c-8c38-8f2b-626cb060a52a',
    name: 'Timeless Classics',
    dish_count: '18',
    description: '',
    image: null,
    ticket_type: 'kitchen',
    tenant: 1,
    sub_menu: null,
    menu_set: null,
    ...SECTION_TIMES,
    deleted_at: null,
    restored_at: null,
    transaction_id: null,
  },
  sub_menu: KITCHEN_CARD,
  kitchen: {
    id: 'd61b1baa-6b94-8758-94a1-a4d0995a6ae0',
    name: 'Main kitchen',
    description: '',
    hotel_id: null,
    stock_location_id: null,
    ...SECTION_TIMES,
  },
  menu_set: {
    id: '3ece595a-081e-8d20-8052-6de6cc36f8f8',
    name: 'All day',
    service: 'all_day',
    status: 'active',
    tenant: 1,
    sub_menus: [KITCHEN_CARD, { id: '6ee74133-f5e9-8856-b778-f35982532f50', name: 'Bar', is_active: true }],
    ...SECTION_TIMES,
  },
  price_variants: [
    { id: '5331fea2-9840-886c-97fc-e621203b1f9a', name: 'Chicken', price: '11.00', currency: 'EUR' },
    { id: 'bae9c1b7-82e3-814a-aff1-0a6cf5cb9d75', name: 'Lamb', price: '12.00', currency: 'EUR' },
  ],
  addons: [
    {
      id: '2b90aa37-080b-8366-929b-8ff92fb6aadb',
      name: '+ Garlic',
      price: '0.00',
      image: null,
      dish_type: null,
      is_active: true,
    },
    {
      id: 'cb2ebaed-ead5-869a-afa4-ca35ac3b4f13',
      name: '+ Extra Lamb',
      price: '3.00',
      image: null,
      dish_type: null,
      is_active: true,
    },
  ],
};

export const PAPADOM = {
  ...KORMA,
  id: '01a19b53-7418-7edc-b27a-66a5453a89e3',
  sku: 'STARTERS-PAPADOM',
  name: 'Papadom',
  dish_type: 'vegan',
  price: '1.00',
  is_active: false,
  category: { ...KORMA.category, id: '37114eb2-b8bb-8bc1-9637-6e18b1180975', name: 'Starters', dish_count: '24' },
  price_variants: [],
  addons: [],
  ingredients: ['lentil flour'],
};

function inDocument({ id, currency, price_variants, addons, ...dish }: typeof KORMA, ingredients: string[]) {
  return {
    ...dish,
    is_active: true,
    category: dish.category.name,
    sub_menu: dish.sub_menu.name,
    kitchen: dish.kitchen.name,
    menu_set: dish.menu_set.name,
    price_variants: price_variants.map(({ name, price }) => ({ name, price })),
    addons: addons.map(({ name, price, dish_type, image, is_active }) => ({
      name,
      price,
      dish_type,
      image,
      is_active,
    })),
    ingredients,
  };
}

export const MENU_DOCUMENT = {
  kitchens: [{ name: 'Main kitchen', description: '' }],
  categories: [
    { name: 'Starters', description: '', image: null, ticket_type: 'kitchen' },
    { name: 'Timeless Classics', description: '', image: null, ticket_type: 'kitchen' },
  ],
  sub_menus: [{ name: 'Kitchen', is_active: true }],
  menu_sets: [{ name: 'All day', service: 'all_day', status: 'active', sub_menus: ['Kitchen'] }],
  dishes: [inDocument(PAPADOM, PAPADOM.ingredients), inDocument(KORMA, ['almond', 'coconut', 'cream'])],
};
