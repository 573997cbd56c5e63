import Type from 'typebox';
import { MAX_ENTRIES, MAX_ORDER_ITEMS } from '#platform/lib/bounds.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import { boolean, integer, oneOf, text, textOrNull, textUpTo } from '#platform/lib/fields.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './order-status.ts';

const MAX_INTEGER = 2_147_483_647;
const AddonInput = Type.Object(
  {
    addon_id: Type.String({ minLength: 1, description: 'The `id` of an add-on, from the `addons` of the dish.' }),
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_INTEGER,
        default: 1,
        description: 'The quantity of this add-on for each piece of the item.',
      }),
    ),
  },
  { title: 'OrderAddonInput', description: 'An add-on that is ordered with each piece of an item.' },
);

const OrderItem = Type.Object(
  {
    item_id: textUpTo(100, 'The `sku` of a dish on the menu.', { minLength: 1 }),
    quantity: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'The number of pieces.' }),
    variant_id: Type.Optional(
      textUpTo(
        100,
        'The `id` of a variant, from the `price_variants` of the dish. If it is missing, the dish without a variant is ordered.',
      ),
    ),
    addons: Type.Optional(
      Type.Array(AddonInput, { maxItems: MAX_ENTRIES, description: 'The add-ons for each piece.' }),
    ),
  },
  { title: 'OrderItemInput', description: 'A dish in an order, with its quantity, variant and add-ons.' },
);
export type OrderItem = Type.Static<typeof OrderItem>;

const PAPADOM_ITEMS = [{ item_id: 'STARTERS-PAPADOM', quantity: 4 }];
const KORMA_ITEMS = [
  {
    item_id: 'TIMELESS-CLASSICS-KORMA',
    quantity: 2,
    variant_id: 'bae9c1b7-82e3-814a-aff1-0a6cf5cb9d75',
    addons: [{ addon_id: 'cb2ebaed-ead5-869a-afa4-ca35ac3b4f13', quantity: 1 }],
  },
];

export const OrderCreate = Type.Object(
  {
    external_order_id: textUpTo(
      150,
      "The caller's own id of the order. If it is sent several times, only one order is placed.",
      { minLength: 1 },
    ),
    items: Type.Array(OrderItem, { minItems: 1, maxItems: MAX_ORDER_ITEMS, description: 'The ordered dishes.' }),
    order_type: Type.Optional(
      Type.Enum([...ORDER_TYPES], {
        type: 'string',
        default: 'delivery',
        description: 'The way in which the food reaches the guest.',
      }),
    ),
    customer: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(textUpTo(255, 'The name of the guest.', TRIMMED)),
          phone: Type.Optional(textUpTo(20, 'A telephone number of the guest, for questions.', TRIMMED)),
        },
        { description: 'The guest who gets the order.' },
      ),
    ),
    delivery_address: Type.Optional(text('The address of a delivery, as free text for the driver.')),
    notes: Type.Optional(text('Notes for the kitchen.')),
  },
  {
    title: 'OrderCreate',
    description: 'A new order. It contains no prices, because the prices of the menu apply.',
    examples: [
      {
        external_order_id: 'CD-2026-1187',
        items: PAPADOM_ITEMS,
        order_type: 'delivery',
        customer: { name: 'Inês Duarte', phone: '+351 912 345 678' },
        delivery_address: 'Rua das Flores 21, 2.º Esq., Porto',
        notes: 'The bell does not work, please call.',
      },
      {
        external_order_id: 'CD-2026-1188',
        items: KORMA_ITEMS,
        order_type: 'pick_up',
        customer: { name: 'Tiago Lopes', phone: '+351 931 204 557' },
      },
    ],
  },
);
export type OrderCreate = Type.Static<typeof OrderCreate>;

const { external_order_id: _, ...PRICED_FIELDS } = OrderCreate.properties;

export const OrderQuoteRequest = Type.Object(PRICED_FIELDS, {
  title: 'OrderQuoteRequest',
  description: 'The fields of a new order without its `external_order_id`. Only `items` has an influence on the price.',
  examples: [{ items: PAPADOM_ITEMS, order_type: 'delivery' }, { items: KORMA_ITEMS }],
});
export type OrderQuoteRequest = Type.Static<typeof OrderQuoteRequest>;

export const OrderResponse = Type.Object(
  {
    success: boolean('Always true, because a refused call gets an error instead.'),
    order_id: text('The id of the order in Roomservice. Events contain it too.'),
    external_order_id: text("The caller's own id of the order, as it was sent."),
    status: oneOf(
      ORDER_STATUSES,
      'The current status of the order. A new order is `pending`. An order ends as `completed` or `cancelled`. Statuses in between ' +
        'may be skipped.',
    ),
  },
  {
    title: 'OrderResponse',
    description: 'An order with its current status.',
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
    description: "The caller's own id of the order, percent-encoded.",
    examples: ['CD-2026-1187'],
  }),
});

export const OrderLine = Type.Object(
  {
    sku: text('The sku of the ordered dish.'),
    name: text('The name of the dish when the order was placed.'),
    variant: textOrNull('The name of the variant. Null if the dish was ordered without a variant.'),
    quantity: integer('The number of pieces.'),
    unit_price: text('The price of one piece without add-ons and extra tax.'),
    addons: Type.Array(
      Type.Object(
        {
          name: text('The name of the add-on.'),
          quantity: integer('The number of add-ons for each piece.'),
          price: text('The price of one add-on.'),
        },
        { title: 'OrderLineAddon', description: 'An add-on of a line.' },
      ),
      { description: 'The add-ons of each piece.' },
    ),
    extra_tax_percentage: text('The extra tax in percent that `total` includes. `0.00` if the dish has no extra tax.'),
    total: text('Quantity × (unit price + add-ons) plus the extra tax, rounded to two decimals.'),
  },
  {
    title: 'OrderLine',
    description: 'A line of an order. It keeps its prices even if the menu changes later.',
  },
);
export type OrderLine = Type.Static<typeof OrderLine>;

export const ORDER_LINE_EXAMPLE = {
  sku: 'STARTERS-PAPADOM',
  name: 'Papadom',
  variant: null,
  quantity: 4,
  unit_price: '1.00',
  addons: [],
  extra_tax_percentage: '0.00',
  total: '4.00',
};

export const OrderQuote = Type.Object(
  {
    lines: Type.Array(OrderLine, { description: 'The priced lines, one for each item.' }),
    total: text('The sum of the totals of all lines.'),
    currency: text('The currency of all amounts, as three letters of ISO 4217.'),
  },
  {
    title: 'OrderQuote',
    description: 'The price that an order of these items has now.',
    examples: [
      {
        lines: [ORDER_LINE_EXAMPLE],
        total: '4.00',
        currency: 'EUR',
      },
    ],
  },
);
export type OrderQuote = Type.Static<typeof OrderQuote>;
