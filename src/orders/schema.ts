import Type from 'typebox';
import { PageQuery } from '../http/paging.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './order-status.ts';

const MAX_INTEGER = 2_147_483_647;
const Money = Type.String();
const OrderStatus = Type.Enum([...ORDER_STATUSES], { type: 'string' });

const AddonInput = Type.Object({
  addon_id: Type.String({ minLength: 1, maxLength: 100 }),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
});

/** Contract §2, `OrderItemInput`. */
const OrderItem = Type.Object({
  item_id: Type.String({ minLength: 1, maxLength: 100, description: 'the sku of a dish on the menu' }),
  quantity: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
  variant_id: Type.Optional(Type.String({ maxLength: 100 })),
  addons: Type.Optional(Type.Array(AddonInput)),
});
export type OrderItem = Type.Static<typeof OrderItem>;

const OrderType = Type.Enum([...ORDER_TYPES], { type: 'string' });

/** Contract §2, `OrderCreate`. */
export const OrderCreate = Type.Object({
  external_order_id: Type.String({ minLength: 1, maxLength: 150, description: "the caller's own id; idempotency key" }),
  items: Type.Array(OrderItem, { minItems: 1 }),
  order_type: Type.Optional(OrderType),
  customer: Type.Optional(
    Type.Object({
      name: Type.Optional(Type.String({ maxLength: 255 })),
      phone: Type.Optional(Type.String({ maxLength: 20 })),
    }),
  ),
  delivery_address: Type.Optional(Type.String()),
  notes: Type.Optional(Type.String()),
});
export type OrderCreate = Type.Static<typeof OrderCreate>;

/** Contract §2, `OrderResponse`. */
export const OrderResponse = Type.Object({
  success: Type.Boolean(),
  order_id: Type.String(),
  external_order_id: Type.String(),
  status: OrderStatus,
});
export type OrderResponse = Type.Static<typeof OrderResponse>;

export const ExternalOrderPath = Type.Object({ external_order_id: Type.String({ minLength: 1 }) });

/** One line of an order, at the price of the moment it was placed (decision 21). */
export const OrderLine = Type.Object({
  sku: Type.String(),
  name: Type.String(),
  variant: Type.Union([Type.String(), Type.Null()]),
  quantity: Type.Integer(),
  unit_price: Money,
  addons: Type.Array(Type.Object({ name: Type.String(), quantity: Type.Integer(), price: Money })),
  extra_tax_percentage: Money,
  total: Money,
});
export type OrderLine = Type.Static<typeof OrderLine>;

const NullableText = Type.Union([Type.String(), Type.Null()]);

/** An order as staff see it (decision 36). */
export const StaffOrder = Type.Object({
  order_id: Type.String(),
  external_order_id: Type.String(),
  status: OrderStatus,
  order_type: OrderType,
  customer: Type.Object({ name: NullableText, phone: NullableText }),
  delivery_address: NullableText,
  notes: NullableText,
  lines: Type.Array(OrderLine),
  total: Money,
  currency: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});
export type StaffOrder = Type.Static<typeof StaffOrder>;

export const StaffOrderQuery = Type.Object({ ...PageQuery.properties, status: Type.Optional(OrderStatus) });
export const OrderPath = Type.Object({ order_id: Type.String() });
export const StatusChange = Type.Object({ status: OrderStatus });
