import Type from 'typebox';
import { MAX_DISHES, MAX_ENTRIES } from '#platform/lib/bounds.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { DECIMAL_IN_WORDS, MONEY } from '#platform/lib/money.ts';
import { matching } from '#platform/lib/patterns.ts';
import {
  boolean,
  integer,
  orNull,
  text,
  textOrNull,
  textUpTo,
  time,
  timeOrNull,
  uuid,
  uuidOrNull,
} from '#platform/lib/fields.ts';
import { KORMA, MENU_DOCUMENT, PAPADOM } from './examples.ts';

const money = (description: string) => Type.String({ ...MONEY, description });
const Percentage = Type.String({
  ...matching(String.raw`^\d{1,3}(\.\d{1,2})?$`, DECIMAL_IN_WORDS),
  description: 'The extra tax in percent, added to the price.',
});

const DIET_VALUES = ['veg', 'non_veg', 'halal', 'vegan', 'gluten_free', 'sugar_free'] as const;
const DishType = Type.Unsafe<(typeof DIET_VALUES)[number] | '' | null>({ enum: [...DIET_VALUES, '', null] });
const Service = Type.Enum(['all_day', 'breakfast', 'lunch', 'dinner'], { type: 'string' });
const MenuSetStatus = Type.Enum(['active', 'inactive'], { type: 'string' });

const SectionName = Type.String({ minLength: 1, maxLength: 100 });
/** The length is bounded, because a response repeats the whole section in each dish of the section. */
const SectionDescription = Type.String({ maxLength: 2_000 });
const MAX_SUB_MENUS_OF_A_SET = 100;

// Schemas for the part of the tenant document that describes the menu.

const described = <T extends Type.TSchema>(schema: T, description: string): T => ({ ...schema, description });
const ListOf = <T extends Type.TSchema>(entry: T, description: string) =>
  Type.Optional(Type.Array(entry, { maxItems: MAX_ENTRIES, description }));

const Picture = (owner: string) =>
  Type.Optional(
    orNull(
      Type.String({ format: 'uri', maxLength: 2048 }),
      `The http or https URL of a picture of the ${owner}. Null if it has no picture.`,
    ),
  );

const KitchenDocument = Type.Object(
  {
    name: described(SectionName, 'The name of the kitchen. Dishes refer to the kitchen by this name.'),
    description: Type.Optional(described(SectionDescription, 'A description of the kitchen.')),
  },
  { title: 'KitchenDocument', description: 'A kitchen that prepares dishes.' },
);
const CategoryDocument = Type.Object(
  {
    name: described(SectionName, 'The name of the category. Dishes refer to the category by this name.'),
    description: Type.Optional(described(SectionDescription, 'A description of the category.')),
    image: Picture('category'),
    ticket_type: Type.Optional(
      orNull(
        Type.String({ maxLength: 100 }),
        'The place where the tickets for these dishes are printed, as free text. Null if unknown.',
      ),
    ),
  },
  { title: 'CategoryDocument', description: 'A category that lists dishes under one heading.' },
);
const SubMenuDocument = Type.Object(
  {
    name: described(SectionName, 'The name of the sub-menu. Dishes and menu sets refer to the sub-menu by this name.'),
    is_active: Type.Optional(
      boolean(
        'True if the sub-menu is active. Partners see this value. The dishes of an inactive sub-menu stay on the menu.',
      ),
    ),
  },
  { title: 'SubMenuDocument', description: 'A part of the menu.' },
);
const MenuSetDocument = Type.Object(
  {
    name: described(SectionName, 'The name of the menu set. Dishes refer to the menu set by this name.'),
    service: Type.Optional(
      described(
        Service,
        'The time of day when the menu set is served. Partners see this value, but it takes no dish off the menu.',
      ),
    ),
    status: Type.Optional(
      described(
        MenuSetStatus,
        'The status of the menu set. Partners see this value, but it takes no dish off the menu.',
      ),
    ),
    sub_menus: Type.Optional(
      Type.Array(SectionName, {
        maxItems: MAX_SUB_MENUS_OF_A_SET,
        description: 'The names of the sub-menus in this menu set.',
      }),
    ),
  },
  { title: 'MenuSetDocument', description: 'Sub-menus that are served together.' },
);
const VariantDocument = Type.Object(
  {
    name: textUpTo(255, 'The name of the variant, unique within the dish.', { minLength: 1 }),
    price: money('The price of the dish in this variant. It replaces the price of the dish.'),
  },
  { title: 'VariantDocument', description: 'A size or kind of a dish, with its own price.' },
);
const AddonDocument = Type.Object(
  {
    name: textUpTo(512, 'The name of the add-on, unique within the dish.', { minLength: 1 }),
    price: money('The price of one add-on, added to the price of the dish.'),
    dish_type: Type.Optional(described(DishType, 'The diet that the add-on suits. Empty or null if unknown.')),
    image: Picture('add-on'),
    is_active: Type.Optional(
      boolean('False if the add-on is off the menu, so that it is not listed and cannot be ordered.'),
    ),
  },
  { title: 'AddonDocument', description: 'An extra that can be ordered with a dish.' },
);

const DISH_FIELDS = {
  name: textUpTo(255, 'The name of the dish.', { minLength: 1 }),
  description: Type.Optional(text('A description of the dish for guests.')),
  dish_type: Type.Optional(described(DishType, 'The diet that the dish suits. Empty or null if unknown.')),
  price: money(
    'The price of the dish without a variant, in the currency of the tenant. It has decimals only if the currency has some.',
  ),
  is_active: Type.Optional(
    boolean('False if the dish is off the menu, so that it is not listed and cannot be ordered.'),
  ),
  is_taxable: Type.Optional(boolean('True if the extra tax is added to the price.')),
  extra_tax_percentage: Type.Optional(Percentage),
  image: Picture('dish'),
  category: described(SectionName, 'The name of the category. It must be in `categories`.'),
  sub_menu: Type.Optional(described(SectionName, 'The name of the sub-menu. If it is missing, `Default`.')),
  kitchen: Type.Optional(described(SectionName, 'The name of the kitchen. If it is missing, `Default`.')),
  menu_set: Type.Optional(described(SectionName, 'The name of the menu set. If it is missing, `Default`.')),
  price_variants: ListOf(VariantDocument, 'The variants of the dish. The list replaces the stored variants.'),
  addons: ListOf(AddonDocument, 'The add-ons of the dish. The list replaces the stored add-ons.'),
  ingredients: ListOf(
    Type.String({ minLength: 1, maxLength: 255 }),
    'The ingredients of the dish. Only staff see the ingredients, not partners.',
  ),
};

const DishDocument = Type.Object(
  {
    sku: textUpTo(100, 'The key of the dish. Partners order the dish by it.', { minLength: 1 }),
    ...DISH_FIELDS,
  },
  { title: 'DishDocument', description: 'A dish of the menu.' },
);

export const MenuDocument = Type.Object(
  {
    kitchens: ListOf(KitchenDocument, 'The kitchens that prepare dishes. Each name must be unique.'),
    categories: ListOf(CategoryDocument, 'The categories that list dishes. Each name must be unique.'),
    sub_menus: ListOf(SubMenuDocument, 'The sub-menus, which are parts of the menu. Each name must be unique.'),
    menu_sets: ListOf(MenuSetDocument, 'The sets of sub-menus that are served together. Each name must be unique.'),
    dishes: Type.Array(DishDocument, {
      maxItems: MAX_DISHES,
      description: 'All dishes, in the order in which the menu lists them. Each `sku` must be unique.',
    }),
  },
  {
    title: 'MenuDocument',
    description: 'The whole menu. The response contains all default values.',
    examples: [MENU_DOCUMENT],
  },
);
export type MenuDocument = Type.Static<typeof MenuDocument>;
export type DishDocument = Type.Static<typeof DishDocument>;

export const DishChange = Type.Partial(Type.Object(DISH_FIELDS), {
  minProperties: 1,
  title: 'DishChange',
  description: 'The fields to change, at least one. All other fields stay as they are.',
  examples: [{ is_active: false }, { price: '1.20', description: 'Crisp, with a mint dip.' }],
});
export type DishChange = Type.Static<typeof DishChange>;

export const DishPath = Type.Object({
  sku: text('The `sku` of the dish, percent-encoded.', 'STARTERS-PAPADOM'),
});

// Schemas for the dish in responses (contract §2, `ThirdPartyDish`).

const sectionName = (description: string) => Type.String({ [DOCUMENTED]: { maxLength: 100 }, description });
const PictureUrl = orNull(
  Type.String({ [DOCUMENTED]: { format: 'uri' } }),
  'The URL of a picture. Null if there is no picture.',
);
const Diet = described(DishType, 'The diet that the dish or add-on suits. Empty or null if unknown.');
const Tenant = integer('The number of the restaurant or hotel that the menu belongs to.');
const CreatedAt = time('The time when this part was added to the menu.');
const UpdatedAt = time('The time when this part of the menu last changed.');

const SubMenu = Type.Object(
  {
    id: uuid('The id of the sub-menu. It stays the same if the name stays the same.'),
    name: text('The name of the sub-menu.'),
    is_active: boolean(
      'True if the restaurant has marked the sub-menu as active. The dishes of an inactive sub-menu stay on the menu.',
    ),
  },
  { title: 'SubMenu', description: 'A part of the menu, such as the kitchen or the bar.' },
);

const Category = Type.Object(
  {
    id: uuid('The id of the category. It stays the same if the name stays the same.'),
    name: sectionName('The name of the category. The menu shows it as a heading.'),
    dish_count: text('The number of dishes that the menu lists in this category, as text.'),
    description: text('A description of the category. It may be empty.'),
    image: PictureUrl,
    ticket_type: textOrNull('The kind of kitchen ticket that prints the dishes. Null if unknown.'),
    tenant: Tenant,
    sub_menu: uuidOrNull('The id of the sub-menu if the category itself belongs to a sub-menu. Otherwise null.'),
    menu_set: uuidOrNull('The id of the menu set if the category itself belongs to a menu set. Otherwise null.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    deleted_at: timeOrNull('Always null, because a deleted category is not listed.'),
    restored_at: timeOrNull('The time when the category was restored after a deletion. Null if it was never deleted.'),
    transaction_id: textOrNull('Not used.'),
  },
  { title: 'Category', description: 'A category of the menu. It lists dishes under one heading.' },
);

const Kitchen = Type.Object(
  {
    id: uuid('The id of the kitchen. It stays the same if the name stays the same.'),
    name: sectionName('The name of the kitchen.'),
    description: text('A description of the kitchen. It may be empty.'),
    hotel_id: uuidOrNull('The hotel that the kitchen belongs to. Null if unknown.'),
    stock_location_id: uuidOrNull('The place where the kitchen keeps its stock. Null if unknown.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { title: 'Kitchen', description: 'The kitchen that prepares the dish.' },
);

const MenuSet = Type.Object(
  {
    id: uuid('The id of the menu set. It stays the same if the name stays the same.'),
    name: sectionName('The name of the menu set.'),
    service: described(Service, 'The time of day when the menu set is served. Orders are accepted at any time.'),
    status: described(
      MenuSetStatus,
      'The status that the restaurant has set for the menu set. The dishes of an inactive menu set stay on the menu.',
    ),
    tenant: Tenant,
    sub_menus: Type.Array(SubMenu, { description: 'The sub-menus of this menu set.' }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { title: 'MenuSet', description: 'A set of sub-menus that are served together, for example in the evening.' },
);

const PriceVariant = Type.Object(
  {
    id: uuid(
      'The id of the variant. Send it as `variant_id` in an order. It stays the same if dish and name stay the same.',
    ),
    name: text('The name of the variant.'),
    price: money('The price of one piece in this variant. It replaces the price of the dish.'),
    currency: text('The currency of the price, as three letters of ISO 4217.'),
  },
  { title: 'PriceVariant', description: 'A size or kind of the dish, with its own price.' },
);

const ADD_ON_SHAPE = {
  id: Type.String({
    format: 'uuid',
    readOnly: true,
    description:
      'The id of the add-on. Send it as `addon_id` in an order. It stays the same if dish and name stay the same.',
  }),
  name: textUpTo(512, 'The name of the add-on.'),
  price: money('The price of one add-on, added to the price of one piece.'),
  image: PictureUrl,
  dish_type: Diet,
  is_active: boolean('True if the add-on can be ordered. Partners see only such add-ons.'),
};
/** The contract has two names for the same fields (rule 18). */
const addOns = (title: 'ThirdPartyAddOn' | 'AddOnDish') =>
  Type.Array(Type.Object(ADD_ON_SHAPE, { title, description: 'An extra that can be ordered with the dish.' }), {
    description: 'The add-ons that can be ordered with the dish.',
  });

const DISH_SHAPE = {
  id: uuid('The id of the dish in Roomservice. An order needs the `sku` instead.'),
  sku: text('The key of the dish. Send it as `item_id` in an order.'),
  name: text('The name of the dish.'),
  description: text('A description of the dish for guests. It may be empty.'),
  dish_type: Diet,
  price: money('The price of one piece without variant and add-ons.'),
  currency: text('The currency of the whole menu, as three letters of ISO 4217.'),
  is_active: boolean('True if the dish can be ordered.'),
  is_taxable: boolean('True if `extra_tax_percentage` is added to the price in an order.'),
  extra_tax_percentage: Percentage,
  image: PictureUrl,
  category: Category,
  sub_menu: SubMenu,
  kitchen: Kitchen,
  menu_set: MenuSet,
  price_variants: Type.Array(PriceVariant, {
    description: 'The variants of the dish. Empty if the dish has no variants.',
  }),
};

export const Dish = Type.Object(
  { ...DISH_SHAPE, addons: addOns('ThirdPartyAddOn') },
  { title: 'ThirdPartyDish', description: 'A dish that can be ordered now.', examples: [KORMA] },
);
export type Dish = Type.Static<typeof Dish>;

export const StaffDish = Type.Object(
  {
    ...DISH_SHAPE,
    addons: addOns('AddOnDish'),
    ingredients: Type.Array(Type.String(), { description: 'The ingredients of the dish, as texts.' }),
  },
  {
    title: 'StaffDish',
    description: 'A dish as staff see it, on the menu or not, with its ingredients and its inactive add-ons.',
    examples: [PAPADOM],
  },
);
export type StaffDish = Type.Static<typeof StaffDish>;
