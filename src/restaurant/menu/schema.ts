import Type from 'typebox';
import { boundedBy } from '#platform/lib/bounds.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { KORMA, MENU_DOCUMENT, PAPADOM } from './examples.ts';

const Uuid = Type.String({ format: 'uuid' });
const Money = Type.String({ pattern: MONEY_PATTERN });
const Percentage = Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,2})?$' });
const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Image = Nullable(Type.String({ format: 'uri', maxLength: 2048 }));

const DIET_VALUES = ['veg', 'non_veg', 'halal', 'vegan', 'gluten_free', 'sugar_free'] as const;
/** A diet, blank or null (contract §2). */
const DishType = Type.Unsafe<(typeof DIET_VALUES)[number] | '' | null>({ enum: [...DIET_VALUES, '', null] });
const Service = Type.Enum(['all_day', 'breakfast', 'lunch', 'dinner'], { type: 'string' });
const MenuSetStatus = Type.Enum(['active', 'inactive'], { type: 'string' });

const SectionName = Type.String({ minLength: 1, maxLength: 100 });
/** Every dish is shown with the whole of its sections, so their size is bounded. */
const SectionDescription = Type.String({ maxLength: 2_000 });
const MAX_SECTIONS = 1_000;
const MAX_SUB_MENUS_OF_A_SET = 100;

// The menu part of the tenant document.

const described = <T extends Type.TSchema>(schema: T, description: string): T => ({ ...schema, description });
const Sections = <T extends Type.TSchema>(entry: T, description: string) =>
  Type.Optional(Type.Array(entry, { maxItems: MAX_SECTIONS, description }));

const KitchenDocument = Type.Object(
  {
    name: described(SectionName, 'Its name, by which dishes refer to it.'),
    description: Type.Optional(described(SectionDescription, 'What there is to know of it.')),
  },
  { title: 'KitchenDocument', description: 'Where dishes are prepared.' },
);
const CategoryDocument = Type.Object(
  {
    name: described(SectionName, 'Its name, by which dishes refer to it.'),
    description: Type.Optional(described(SectionDescription, 'What there is to know of it.')),
    image: Type.Optional(described(Image, 'The http or https URL of a picture; null: none.')),
    ticket_type: Type.Optional(
      described(
        Nullable(Type.String({ maxLength: 100 })),
        'Where tickets for its dishes are printed, in your own words; null: nothing said.',
      ),
    ),
  },
  { title: 'CategoryDocument', description: 'What dishes are listed under.' },
);
const SubMenuDocument = Type.Object(
  {
    name: described(SectionName, 'Its name, by which dishes and menu sets refer to it.'),
    is_active: Type.Optional(Type.Boolean({ description: 'Shown to partners; it takes no dish off the menu.' })),
  },
  { title: 'SubMenuDocument', description: 'A part of the menu.' },
);
const MenuSetDocument = Type.Object(
  {
    name: described(SectionName, 'Its name, by which dishes refer to it.'),
    service: Type.Optional(described(Service, 'When it is served. Shown to partners; it takes no dish off the menu.')),
    status: Type.Optional(described(MenuSetStatus, 'Shown to partners; it takes no dish off the menu.')),
    sub_menus: Type.Optional(
      Type.Array(SectionName, { maxItems: MAX_SUB_MENUS_OF_A_SET, description: 'The names of the sub-menus in it.' }),
    ),
  },
  { title: 'MenuSetDocument', description: 'Sub-menus that are served together.' },
);
const VariantDocument = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Its name, unique within the dish.' }),
    price: described(Money, "The price of the dish in this variant, in place of the dish's own."),
  },
  { title: 'VariantDocument', description: 'One of the sizes or kinds that a dish is sold in.' },
);
const AddonDocument = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 512, description: 'Its name, unique within the dish.' }),
    price: described(Money, 'What one of it adds to the price.'),
    dish_type: Type.Optional(described(DishType, 'The diet that it suits; blank or null: nothing said.')),
    image: Type.Optional(described(Image, 'The http or https URL of a picture; null: none.')),
    is_active: Type.Optional(Type.Boolean({ description: 'False takes it off the menu: it cannot be ordered.' })),
  },
  { title: 'AddonDocument', description: 'Something that can be ordered with a dish.' },
);

const DISH_FIELDS = {
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Its name.' }),
  description: Type.Optional(Type.String({ description: 'What a guest should know of it.' })),
  dish_type: Type.Optional(described(DishType, 'The diet that it suits; blank or null: nothing said.')),
  price: described(Money, 'Its price, in the currency of the tenant, where no variant is ordered.'),
  is_active: Type.Optional(
    Type.Boolean({ description: 'False takes it off the menu: it is not listed and not sold.' }),
  ),
  is_taxable: Type.Optional(Type.Boolean({ description: 'Whether the extra tax is added.' })),
  extra_tax_percentage: Type.Optional(described(Percentage, 'A tax in percent that is added to its price.')),
  image: Type.Optional(described(Image, 'The http or https URL of a picture; null: none.')),
  category: described(SectionName, 'The name of its category, which must be among `categories`.'),
  sub_menu: Type.Optional(described(SectionName, 'The name of its sub-menu. Left out: one named `Default`.')),
  kitchen: Type.Optional(described(SectionName, 'The name of its kitchen. Left out: one named `Default`.')),
  menu_set: Type.Optional(described(SectionName, 'The name of its menu set. Left out: one named `Default`.')),
  price_variants: Type.Optional(
    Type.Array(VariantDocument, {
      ...boundedBy('dishEntries'),
      description: 'What it is sold in. One that is not named any more is gone.',
    }),
  ),
  addons: Type.Optional(
    Type.Array(AddonDocument, {
      ...boundedBy('dishEntries'),
      description: 'What can be ordered with it. One that is not named any more is gone.',
    }),
  ),
  ingredients: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      ...boundedBy('dishEntries'),
      description: 'For staff; partners never see it.',
    }),
  ),
};

const DishDocument = Type.Object(
  {
    sku: Type.String({ minLength: 1, maxLength: 100, description: 'What the dish is known by; partners order by it.' }),
    ...DISH_FIELDS,
  },
  { title: 'DishDocument', description: 'A dish of the menu.' },
);

export const MenuDocument = Type.Object(
  {
    kitchens: Sections(KitchenDocument, 'Where dishes are prepared, by name.'),
    categories: Sections(CategoryDocument, 'What dishes are listed under, by name.'),
    sub_menus: Sections(SubMenuDocument, 'The parts of the menu, by name.'),
    menu_sets: Sections(MenuSetDocument, 'Which parts are served together, by name.'),
    dishes: Type.Array(DishDocument, {
      ...boundedBy('dishes'),
      description: 'Every dish, by `sku`, in the order in which they are listed.',
    }),
  },
  {
    title: 'MenuDocument',
    description: 'The whole menu. The answer has every default written out.',
    examples: [MENU_DOCUMENT],
  },
);
export type MenuDocument = Type.Static<typeof MenuDocument>;
export type DishDocument = Type.Static<typeof DishDocument>;

/** Any fields of a dish but its sku. */
export const DishChange = Type.Partial(Type.Object(DISH_FIELDS), {
  minProperties: 1,
  title: 'DishChange',
  description: 'The fields to change, at least one; the others stay as they are.',
  examples: [{ is_active: false }, { price: '1.20', description: 'Crisp, with a mint dip.' }],
});
export type DishChange = Type.Static<typeof DishChange>;

export const DishPath = Type.Object({
  sku: Type.String({ description: 'The `sku` of the dish, percent-encoded.', examples: ['STARTERS-PAPADOM'] }),
});

// The dish as it is shown (contract §2, `ThirdPartyDish`).

const text = (description: string) => Type.String({ description });
const uuid = (description: string) => Type.String({ format: 'uuid', description });
const money = (description: string) => Type.String({ pattern: MONEY_PATTERN, description });
const time = (description: string) => Type.String({ format: 'date-time', description });
const nullable = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const sectionName = (description: string) => Type.String({ [DOCUMENTED]: { maxLength: 100 }, description });
const PictureUrl = nullable(Type.String({ [DOCUMENTED]: { format: 'uri' } }), 'URL of a picture.');
const Diet = Type.Unsafe<Type.Static<typeof DishType>>({
  ...DishType,
  description: 'A diet it suits; empty or null: not said.',
});
const Tenant = Type.Integer({ description: 'A number for the house whose menu this is.' });
const CreatedAt = time('When it came onto the menu.');
const UpdatedAt = time('When something of it last changed.');

const SubMenu = Type.Object(
  {
    id: uuid('The same for as long as the name is.'),
    name: text('Its name.'),
    is_active: Type.Boolean({ description: 'As the house keeps it. It takes no dish off the menu.' }),
  },
  { title: 'SubMenu', description: 'A part of the menu, such as the kitchen or the bar.' },
);

const Category = Type.Object(
  {
    id: uuid('The same for as long as the name is.'),
    name: sectionName('The heading under which the dish stands.'),
    dish_count: text('How many dishes the menu lists under it, as text.'),
    description: text('More about it; may be empty.'),
    image: PictureUrl,
    ticket_type: nullable(Type.String(), 'Which ticket of the house it is printed on.'),
    tenant: Tenant,
    sub_menu: nullable(Uuid, 'The sub-menu that the whole category belongs to, where it belongs to one.'),
    menu_set: nullable(Uuid, 'The menu set that the whole category belongs to, where it belongs to one.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    deleted_at: nullable(Type.String({ format: 'date-time' }), 'Null: what is deleted is not listed.'),
    restored_at: nullable(Type.String({ format: 'date-time' }), 'When it came back after it was deleted.'),
    transaction_id: nullable(Type.String(), 'Not used.'),
  },
  { title: 'Category', description: 'A heading of the menu.' },
);

const Kitchen = Type.Object(
  {
    id: uuid('The same for as long as the name is.'),
    name: sectionName('Its name.'),
    description: text('More about it; may be empty.'),
    hotel_id: nullable(Uuid, 'The hotel it belongs to, where that is known.'),
    stock_location_id: nullable(Uuid, 'Where its stock is kept, where that is known.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { title: 'Kitchen', description: 'Where the dish is made.' },
);

const MenuSet = Type.Object(
  {
    id: uuid('The same for as long as the name is.'),
    name: sectionName('Its name.'),
    service: Type.Enum(['all_day', 'breakfast', 'lunch', 'dinner'], {
      type: 'string',
      description: 'When it is served. For show: orders are taken at any time.',
    }),
    status: Type.Enum(['active', 'inactive'], {
      type: 'string',
      description: 'As the house keeps it. It takes no dish off the menu.',
    }),
    tenant: Tenant,
    sub_menus: Type.Array(SubMenu, { description: 'What it is made of.' }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { title: 'MenuSet', description: 'A card of the house, such as the one for the evening.' },
);

const PriceVariant = Type.Object(
  {
    id: uuid('Sent as `variant_id` to order it. The same for as long as dish and name are.'),
    name: text('Its name.'),
    price: money("What one piece costs, in place of the dish's own price."),
    currency: text('Three letters of ISO 4217.'),
  },
  { title: 'PriceVariant', description: 'A form of the dish with a price of its own.' },
);

const ADD_ON_SHAPE = {
  id: Type.String({
    format: 'uuid',
    readOnly: true,
    description: 'Sent as `addon_id` to order it. The same for as long as dish and name are.',
  }),
  name: Type.String({ maxLength: 512, description: 'Its name.' }),
  price: money('What one of it adds to the price of one piece.'),
  image: PictureUrl,
  dish_type: Diet,
  is_active: Type.Boolean({ description: 'Always true here: an add-on that is not offered is not listed.' }),
};
/** Decision 18: partners and staff see the same fields; the contract has a name for each. */
const ThirdPartyAddOn = Type.Object(ADD_ON_SHAPE, {
  title: 'ThirdPartyAddOn',
  description: 'Something that can be ordered along with the dish.',
});
const AddOnDish = Type.Object(ADD_ON_SHAPE, {
  title: 'AddOnDish',
  description: 'Something that can be ordered along with the dish.',
});

const DISH_SHAPE = {
  id: uuid('The id of the dish inside Roomservice. To order, send the `sku`.'),
  sku: text('What the dish is ordered by: `item_id` of an order.'),
  name: text('Its name.'),
  description: text('What a guest should know of it; may be empty.'),
  dish_type: Diet,
  price: money('What one piece costs, without variant and add-ons.'),
  currency: text('Three letters of ISO 4217; the same for the whole menu.'),
  is_active: Type.Boolean({ description: 'Whether it can be ordered.' }),
  is_taxable: Type.Boolean({ description: 'Whether `extra_tax_percentage` is added to what is ordered of it.' }),
  extra_tax_percentage: Type.String({ ...Percentage, description: 'Per cent that come on top of the price.' }),
  image: PictureUrl,
  category: Category,
  sub_menu: SubMenu,
  kitchen: Kitchen,
  menu_set: MenuSet,
  price_variants: Type.Array(PriceVariant, { description: 'Its forms; empty where there is one only.' }),
};
const ADD_ONS = { description: 'What can be ordered along with it.' };

export const Dish = Type.Object(
  { ...DISH_SHAPE, addons: Type.Array(ThirdPartyAddOn, ADD_ONS) },
  { title: 'ThirdPartyDish', description: 'A dish that can be ordered now.', examples: [KORMA] },
);
export type Dish = Type.Static<typeof Dish>;

/** As staff see it: with its ingredients. */
export const StaffDish = Type.Object(
  {
    ...DISH_SHAPE,
    addons: Type.Array(AddOnDish, ADD_ONS),
    ingredients: Type.Array(Type.String(), { description: 'What is in it, in words.' }),
  },
  {
    title: 'StaffDish',
    description: 'A dish as partners see it, with its ingredients, and whether it is on the menu or not.',
    examples: [PAPADOM],
  },
);
export type StaffDish = Type.Static<typeof StaffDish>;
