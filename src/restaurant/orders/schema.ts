import Type from 'typebox';
import { boundedBy } from '#platform/lib/bounds.ts';
import { PageQuery } from '#platform/http/paging.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './order-status.ts';

const MAX_INTEGER = 2_147_483_647;
const AddonInput = Type.Object(
  {
    addon_id: Type.String({ minLength: 1, description: "The `id` of one of the dish's `addons`." }),
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_INTEGER,
        default: 1,
        description: 'How many of it go with each piece.',
      }),
    ),
  },
  { title: 'OrderAddonInput', description: 'An add-on that goes with each piece of an item.' },
);

/** Contract §2, `OrderItemInput`. */
const OrderItem = Type.Object(
  {
    item_id: Type.String({ minLength: 1, maxLength: 100, description: 'The `sku` of a dish on the menu.' }),
    quantity: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'How many pieces.' }),
    variant_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "The `id` of one of the dish's `price_variants`; left out: the dish as it is.",
      }),
    ),
    addons: Type.Optional(
      Type.Array(AddonInput, { ...boundedBy('itemAddons'), description: 'What goes with each piece.' }),
    ),
  },
  { title: 'OrderItemInput', description: 'A dish that is ordered.' },
);
export type OrderItem = Type.Static<typeof OrderItem>;

/** Contract §2, `OrderCreate`. */
export const OrderCreate = Type.Object(
  {
    external_order_id: Type.String({
      minLength: 1,
      maxLength: 150,
      description: "The caller's own id of the order. However often it is sent, one order is placed.",
    }),
    items: Type.Array(OrderItem, { minItems: 1, ...boundedBy('orderItems'), description: 'What is ordered.' }),
    order_type: Type.Optional(
      Type.Enum([...ORDER_TYPES], {
        type: 'string',
        default: 'delivery',
        description: 'How the food reaches the guest.',
      }),
    ),
    customer: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ maxLength: 255, description: 'The name to call out or to ring for.' })),
          phone: Type.Optional(Type.String({ maxLength: 20, description: 'A number for questions.' })),
        },
        { description: 'Whom the order is for.' },
      ),
    ),
    delivery_address: Type.Optional(
      Type.String({ description: 'Where a delivery goes, in the words a driver needs.' }),
    ),
    notes: Type.Optional(Type.String({ description: 'Wishes for the kitchen.' })),
  },
  {
    title: 'OrderCreate',
    description: 'An order as a platform places it. Prices are those of the menu; none are sent.',
    examples: [
      {
        external_order_id: 'CD-2026-1187',
        items: [{ item_id: 'STARTERS-PAPADOM', quantity: 4 }],
        order_type: 'delivery',
        customer: { name: 'Inês Duarte', phone: '+351 912 345 678' },
        delivery_address: 'Rua das Flores 21, 2.º Esq., Porto',
        notes: 'The bell does not work, please call.',
      },
      {
        external_order_id: 'CD-2026-1188',
        items: [
          {
            item_id: 'TIMELESS-CLASSICS-KORMA',
            quantity: 2,
            variant_id: 'bae9c1b7-82e3-814a-aff1-0a6cf5cb9d75',
            addons: [{ addon_id: 'cb2ebaed-ead5-869a-afa4-ca35ac3b4f13', quantity: 1 }],
          },
        ],
        order_type: 'pick_up',
        customer: { name: 'Tiago Lopes', phone: '+351 931 204 557' },
      },
    ],
  },
);
export type OrderCreate = Type.Static<typeof OrderCreate>;

/** Contract §2, `OrderResponse`. */
export const OrderResponse = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true: a refusal is answered with an error.' }),
    order_id: Type.String({ description: 'The id of the order inside Roomservice; events carry it too.' }),
    external_order_id: Type.String({ description: "The caller's own id, as it was sent." }),
    status: Type.Enum([...ORDER_STATUSES], {
      type: 'string',
      description:
        'Where the order stands. A new one is `pending`; it ends `completed` or `cancelled`. Statuses on the way may be left out.',
    }),
  },
  {
    title: 'OrderResponse',
    description: 'The order as it stands now.',
    examples: [
      {
        success: true,
        order_id: '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
        external_order_id: 'CD-2026-1187',
        status: 'pending',
      },
    ],
  },
);
export type OrderResponse = Type.Static<typeof OrderResponse>;

export const ExternalOrderPath = Type.Object({
  external_order_id: Type.String({
    minLength: 1,
    description: 'The id that the order was placed under, percent-encoded.',
    examples: ['CD-2026-1187'],
  }),
});

/** One line of an order, at the price of the moment it was placed (decision 21). */
export const OrderLine = Type.Object(
  {
    sku: Type.String({ description: 'The dish that was ordered.' }),
    name: Type.String({ description: 'Its name then.' }),
    variant: Type.Union([Type.String(), Type.Null()], {
      description: 'The name of the variant; null: none was chosen.',
    }),
    quantity: Type.Integer({ description: 'How many.' }),
    unit_price: Type.String({ description: 'The price of one, without add-ons and extra tax.' }),
    addons: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'The add-on.' }),
          quantity: Type.Integer({ description: 'How many with each dish.' }),
          price: Type.String({ description: 'The price of one.' }),
        },
        { title: 'OrderLineAddon', description: 'An add-on of a line.' },
      ),
      { description: 'What was ordered with each.' },
    ),
    extra_tax_percentage: Type.String({
      description: 'The tax in percent that `total` has on top; `0.00` where none is.',
    }),
    total: Type.String({ description: 'Quantity times dish and add-ons, with the extra tax, to two decimals.' }),
  },
  {
    title: 'OrderLine',
    description: 'What was ordered, at the prices of that moment: later changes of the menu leave it.',
  },
);
export type OrderLine = Type.Static<typeof OrderLine>;

const NullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** An order as staff see it (decision 36). */
export const StaffOrder = Type.Object(
  {
    order_id: Type.String({ description: 'Our id of the order.' }),
    external_order_id: Type.String({ description: "The partner's own id of it." }),
    status: Type.Enum([...ORDER_STATUSES], { type: 'string', description: 'Where the order stands.' }),
    order_type: Type.Enum([...ORDER_TYPES], { type: 'string', description: 'How the food reaches the guest.' }),
    customer: Type.Object(
      {
        name: NullableText('A name; null where the partner gave none.'),
        phone: NullableText('A telephone number; null where the partner gave none.'),
      },
      { description: 'Who ordered.' },
    ),
    delivery_address: NullableText('Where it goes; null where the partner did not say.'),
    notes: NullableText("The guest's wishes; null: none."),
    lines: Type.Array(OrderLine, { description: 'What was ordered.' }),
    total: Type.String({ description: 'The sum of the lines.' }),
    currency: Type.String({ description: 'The currency of every amount, three letters of ISO 4217.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was placed.' }),
  },
  {
    title: 'StaffOrder',
    description: 'An order as the house sees it, whichever partner placed it.',
    examples: [
      {
        order_id: '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
        external_order_id: 'CD-2026-1187',
        status: 'preparing',
        order_type: 'delivery',
        customer: { name: 'Inês Duarte', phone: '+351 912 345 678' },
        delivery_address: 'Rua das Flores 21, 2.º Esq., Porto',
        notes: 'The bell does not work, please call.',
        lines: [
          {
            sku: 'STARTERS-PAPADOM',
            name: 'Papadom',
            variant: null,
            quantity: 4,
            unit_price: '1.00',
            addons: [],
            extra_tax_percentage: '0.00',
            total: '4.00',
          },
        ],
        total: '4.00',
        currency: 'EUR',
        created_at: '2026-11-20T18:42:07.512Z',
      },
      {
        order_id: '01a1fa46-30e8-7d19-8b2c-5f0e91a7c36d',
        external_order_id: 'CD-2026-1188',
        status: 'pending',
        order_type: 'pick_up',
        customer: { name: 'Tiago Lopes', phone: '+351 931 204 557' },
        delivery_address: null,
        notes: null,
        lines: [
          {
            sku: 'TIMELESS-CLASSICS-KORMA',
            name: 'Korma',
            variant: 'Lamb',
            quantity: 2,
            unit_price: '12.00',
            addons: [{ name: '+ Extra Lamb', quantity: 1, price: '3.00' }],
            extra_tax_percentage: '0.00',
            total: '30.00',
          },
        ],
        total: '30.00',
        currency: 'EUR',
        created_at: '2026-11-20T18:44:26.344Z',
      },
    ],
  },
);
export type StaffOrder = Type.Static<typeof StaffOrder>;

export const StaffOrderQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(
    Type.Enum([...ORDER_STATUSES], {
      type: 'string',
      description: 'Only orders in this status.',
      examples: ['pending'],
    }),
  ),
});
export const OrderPath = Type.Object({
  order_id: Type.String({
    description: 'Our id of the order, as the list shows it.',
    examples: ['01a1fa44-1218-71c4-9e05-7a36d8b1f240'],
  }),
});
export const StatusChange = Type.Object(
  { status: Type.Enum([...ORDER_STATUSES], { type: 'string', description: 'The status that it comes to.' }) },
  { title: 'OrderStatusChange', description: 'Where the order goes.', examples: [{ status: 'preparing' }] },
);
