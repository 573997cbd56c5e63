import Type from 'typebox';
import { NamedActor } from '#access/actors/actors.ts';
import { KeysetQuery, MAX_LIMIT } from '#platform/http/keyset-page.ts';
import { idsQuery } from '#platform/http/search-query.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import { oneOf, text, textOrNull, textUpTo, time, timeOrNull, uuid } from '#platform/lib/fields.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './order-status.ts';
import { ORDER_LINE_EXAMPLE, OrderLine } from './schema.ts';

const Status = (description: string) => oneOf(ORDER_STATUSES, description);

const HistoryEntry = Type.Object(
  {
    status: Status('The status that the order got.'),
    at: time('The time at which the order got this status.'),
    by: NamedActor,
  },
  {
    title: 'OrderHistoryEntry',
    description: 'A status of the order, with its time and the person or program that set it.',
  },
);

export const StaffOrder = Type.Object(
  {
    order_id: text('The id of the order in Roomservice.'),
    external_order_id: text("The partner's own id of the order."),
    status: Status('The current status of the order.'),
    order_type: oneOf(ORDER_TYPES, 'The way in which the food reaches the guest.'),
    customer: Type.Object(
      {
        name: textOrNull('The name of the guest. Null if the partner sent no name.'),
        phone: textOrNull('The telephone number of the guest. Null if the partner sent no number.'),
      },
      { description: 'The guest who gets the order.' },
    ),
    delivery_address: textOrNull('The address of a delivery. Null if the partner sent no address.'),
    notes: textOrNull('Notes for the kitchen. Null if the partner sent no notes.'),
    lines: Type.Array(OrderLine, { description: 'The lines of the order, one for each item.' }),
    total: text('The sum of the totals of all lines.'),
    currency: text('The currency of all amounts, as three letters of ISO 4217.'),
    created_at: time('The time when the order was placed.'),
    number: text('Four characters for calling out the order, such as `7K2M`. Two orders may have the same number.'),
    credential_id: uuid('The id of the credential that placed the order.'),
    credential_label: text('The label of this credential. It may be empty.'),
    status_changed_at: time('The time at which the order got its current status.'),
    ready_by: timeOrNull('The time at which staff expect the order to be ready. Null if staff gave no time.'),
    cancel_reason: textOrNull(
      'The reason that staff gave for the cancellation. Partners never see it. Null if staff gave no reason, or if the order is not ' +
        'cancelled.',
    ),
    history: Type.Optional(
      Type.Array(HistoryEntry, {
        description:
          'All statuses of the order, oldest first. Only the response to a read of one order has this field.',
      }),
    ),
  },
  {
    title: 'StaffOrder',
    description: 'An order of any partner, with its lines, as staff see it.',
    examples: [
      {
        order_id: '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
        external_order_id: 'CD-2026-1187',
        status: 'preparing',
        order_type: 'delivery',
        customer: { name: 'Inês Duarte', phone: '+351 912 345 678' },
        delivery_address: 'Rua das Flores 21, 2.º Esq., Porto',
        notes: 'The bell does not work, please call.',
        lines: [ORDER_LINE_EXAMPLE],
        total: '4.00',
        currency: 'EUR',
        created_at: '2026-11-20T18:42:07.512Z',
        number: '3WJ0',
        credential_id: '01a19b53-7418-7b0e-9c55-4f6a0d2b83e1',
        credential_label: 'City Delivery',
        status_changed_at: '2026-11-20T18:49:15.204Z',
        ready_by: '2026-11-20T19:05:00.000Z',
        cancel_reason: null,
        history: [
          {
            status: 'pending',
            at: '2026-11-20T18:42:07.512Z',
            by: { type: 'partner', id: '01a19b53-7418-7b0e-9c55-4f6a0d2b83e1', name: 'City Delivery' },
          },
          {
            status: 'preparing',
            at: '2026-11-20T18:49:15.204Z',
            by: { type: 'person', id: '01a19b53-7418-7d52-8a13-c07e5b9f4d26', name: 'Rui Costa' },
          },
        ],
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
        number: 'FGVD',
        credential_id: '01a19b53-7418-7b0e-9c55-4f6a0d2b83e1',
        credential_label: 'City Delivery',
        status_changed_at: '2026-11-20T18:44:26.344Z',
        ready_by: null,
        cancel_reason: null,
      },
    ],
  },
);
export type StaffOrder = Type.Static<typeof StaffOrder>;

/** A screen of the kitchen reads all open orders at once. */
const MAX_OPEN_LIMIT = 500;

export const StaffOrderQuery = Type.Object({
  ...KeysetQuery.properties,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_OPEN_LIMIT,
      description: `Maximum number of orders in the response: at most ${MAX_LIMIT}, or ${MAX_OPEN_LIMIT} with \`open=true\`. The default is 50.`,
      examples: [50],
    }),
  ),
  status: Type.Optional(oneOf(ORDER_STATUSES, 'Lists only orders in this status.', 'pending')),
  open: Type.Optional(
    Type.Unsafe<true>({
      type: 'boolean',
      enum: [true],
      description: 'Lists only orders that are neither `completed` nor `cancelled`. The only value is `true`.',
      examples: [true],
    }),
  ),
  ids: idsQuery(
    'Lists only the orders with these ids: up to 50 `order_id`s with commas between them.',
    '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
  ),
  credential_id: Type.Optional(
    uuid('Lists only orders that this credential has placed.', '01a19b53-7418-7b0e-9c55-4f6a0d2b83e1'),
  ),
  order_type: Type.Optional(oneOf(ORDER_TYPES, 'Lists only orders of this type.', 'pick_up')),
  created_from: Type.Optional(
    time('Lists only orders that were placed at this time or later.', '2026-11-20T18:00:00Z'),
  ),
  created_to: Type.Optional(time('Lists only orders that were placed before this time.', '2026-11-21T00:00:00Z')),
  external_order_id: Type.Optional(
    textUpTo(
      150,
      "Lists only orders with this id of the partner. Each of the tenant's partners may have used the id once.",
      { minLength: 1, example: 'CD-2026-1187' },
    ),
  ),
  number: Type.Optional(
    textUpTo(
      10,
      'Lists only orders with this number for calling out, without regard to case. Without `created_from`, the list has only orders of ' +
        'the last 31 days.',
      { ...TRIMMED, minLength: 1, example: '3WJ0' },
    ),
  ),
  phone: Type.Optional(
    textUpTo(
      40,
      'Lists only orders of the guest with this telephone number. Only the digits of both numbers are compared, ' +
        'in any script, so the value needs a digit.',
      { ...TRIMMED, example: '+351 912 345 678' },
    ),
  ),
  name: Type.Optional(
    textUpTo(
      60,
      'Lists only orders of guests whose name begins with this text, without regard to case and accents. Without ' +
        '`created_from`, the list has only orders of the last 31 days.',
      { ...TRIMMED, minLength: 1, example: 'ines' },
    ),
  ),
  order: Type.Optional(
    oneOf(['oldest'], 'Lists the oldest order first. Without this parameter, the newest order comes first.', 'oldest'),
  ),
});
export type StaffOrderQuery = Type.Static<typeof StaffOrderQuery>;

export const OrderPath = Type.Object({
  order_id: text(
    'The id of the order in Roomservice, from the list of orders.',
    '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
  ),
});
export const StatusChange = Type.Object(
  {
    status: Status('The new status of the order.'),
    expected_status: Type.Optional(
      Status(
        'The status that the caller has seen. If the order has another status now, the change is refused with 409.',
      ),
    ),
    request_id: Type.Optional(
      uuid(
        'An id that the caller makes for this change. It makes a repeat safe. If an earlier change of this order had the ' +
          'same id, the call changes nothing, and the response is 200 with the order as it is now.',
      ),
    ),
    reason: Type.Optional(
      textUpTo(200, 'The reason of a cancellation, only with the status `cancelled`. Partners never see it.'),
    ),
    ready_by: Type.Optional(
      time('The time at which staff expect the order to be ready. If it is missing, the order keeps its time.'),
    ),
  },
  {
    title: 'OrderStatusChange',
    description: 'A change of the status of an order.',
    examples: [
      { status: 'preparing', expected_status: 'confirmed', ready_by: '2026-11-20T19:05:00Z' },
      { status: 'ready', request_id: '8e0f4b56-3c1d-4d0e-9a77-52b1f6c0d913' },
      { status: 'cancelled', reason: 'The guest did not answer the phone.' },
    ],
  },
);
export type StatusChange = Type.Static<typeof StatusChange>;
