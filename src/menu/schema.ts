import Type from 'typebox';
import { MONEY_PATTERN } from '../lib/money.ts';

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

const KitchenDocument = Type.Object({ name: SectionName, description: Type.Optional(SectionDescription) });
const CategoryDocument = Type.Object({
  name: SectionName,
  description: Type.Optional(SectionDescription),
  image: Type.Optional(Image),
  ticket_type: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
});
const SubMenuDocument = Type.Object({ name: SectionName, is_active: Type.Optional(Type.Boolean()) });
const MenuSetDocument = Type.Object({
  name: SectionName,
  service: Type.Optional(Service),
  status: Type.Optional(MenuSetStatus),
  sub_menus: Type.Optional(Type.Array(SectionName, { maxItems: MAX_SUB_MENUS_OF_A_SET })),
});
const VariantDocument = Type.Object({ name: Type.String({ minLength: 1, maxLength: 255 }), price: Money });
const AddonDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 512 }),
  price: Money,
  dish_type: Type.Optional(DishType),
  image: Type.Optional(Image),
  is_active: Type.Optional(Type.Boolean()),
});

const DISH_FIELDS = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Type.String()),
  dish_type: Type.Optional(DishType),
  price: Money,
  is_active: Type.Optional(Type.Boolean()),
  is_taxable: Type.Optional(Type.Boolean()),
  extra_tax_percentage: Type.Optional(Percentage),
  image: Type.Optional(Image),
  category: SectionName,
  sub_menu: Type.Optional(SectionName),
  kitchen: Type.Optional(SectionName),
  menu_set: Type.Optional(SectionName),
  price_variants: Type.Optional(Type.Array(VariantDocument)),
  addons: Type.Optional(Type.Array(AddonDocument)),
  ingredients: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }))),
};

const DishDocument = Type.Object({ sku: Type.String({ minLength: 1, maxLength: 100 }), ...DISH_FIELDS });

export const MenuDocument = Type.Object({
  kitchens: Type.Optional(Type.Array(KitchenDocument, { maxItems: MAX_SECTIONS })),
  categories: Type.Optional(Type.Array(CategoryDocument, { maxItems: MAX_SECTIONS })),
  sub_menus: Type.Optional(Type.Array(SubMenuDocument, { maxItems: MAX_SECTIONS })),
  menu_sets: Type.Optional(Type.Array(MenuSetDocument, { maxItems: MAX_SECTIONS })),
  dishes: Type.Array(DishDocument),
});
export type MenuDocument = Type.Static<typeof MenuDocument>;
export type DishDocument = Type.Static<typeof DishDocument>;

/** Any fields of a dish but its sku. */
export const DishChange = Type.Partial(Type.Object(DISH_FIELDS), { minProperties: 1 });
export type DishChange = Type.Static<typeof DishChange>;

export const DishPath = Type.Object({ sku: Type.String() });

// The dish as it is shown (contract §2, `ThirdPartyDish`).

const Time = Type.String({ format: 'date-time' });
const SubMenu = Type.Object({ id: Uuid, name: Type.String(), is_active: Type.Boolean() });

const DISH_SHAPE = {
  id: Uuid,
  sku: Type.String(),
  name: Type.String(),
  description: Type.String(),
  dish_type: DishType,
  price: Money,
  currency: Type.String(),
  is_active: Type.Boolean(),
  is_taxable: Type.Boolean(),
  extra_tax_percentage: Percentage,
  image: Nullable(Type.String()),
  category: Type.Object({
    id: Uuid,
    name: Type.String(),
    dish_count: Type.String(),
    description: Type.String(),
    image: Nullable(Type.String()),
    ticket_type: Nullable(Type.String()),
    tenant: Type.Integer(),
    sub_menu: Nullable(Uuid),
    menu_set: Nullable(Uuid),
    created_at: Time,
    updated_at: Time,
    deleted_at: Nullable(Time),
    restored_at: Nullable(Time),
    transaction_id: Nullable(Type.String()),
  }),
  sub_menu: SubMenu,
  kitchen: Type.Object({
    id: Uuid,
    name: Type.String(),
    description: Type.String(),
    hotel_id: Nullable(Uuid),
    stock_location_id: Nullable(Uuid),
    created_at: Time,
    updated_at: Time,
  }),
  menu_set: Type.Object({
    id: Uuid,
    name: Type.String(),
    service: Service,
    status: MenuSetStatus,
    tenant: Type.Integer(),
    sub_menus: Type.Array(SubMenu),
    created_at: Time,
    updated_at: Time,
  }),
  price_variants: Type.Array(Type.Object({ id: Uuid, name: Type.String(), price: Money, currency: Type.String() })),
  addons: Type.Array(
    Type.Object({
      id: Uuid,
      name: Type.String(),
      price: Money,
      image: Nullable(Type.String()),
      dish_type: DishType,
      is_active: Type.Boolean(),
    }),
  ),
};

export const Dish = Type.Object(DISH_SHAPE);
export type Dish = Type.Static<typeof Dish>;

/** As staff see it: with its ingredients. */
export const StaffDish = Type.Object({ ...DISH_SHAPE, ingredients: Type.Array(Type.String()) });
export type StaffDish = Type.Static<typeof StaffDish>;
