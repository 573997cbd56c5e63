import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { RATE_PLAN_EXAMPLES, Rate, RatePlan } from '../rates/rates.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';

/** PMS contract §2. */
export const Property = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the property: `property_id` of its room types.' }),
    name: Type.String({ description: 'Its name.' }),
    address: Type.String({ description: 'Street and number; may be empty.' }),
    city: Type.String({ description: 'The city; may be empty.' }),
    country_code: Type.String({ description: 'The country, two letters of ISO 3166.' }),
  },
  {
    title: 'PmsProperty',
    description: 'A house of the tenant.',
    examples: [
      {
        id: '01a19b53-7418-7fc9-9841-34ae56728784',
        name: 'Harbour House',
        address: '14 Rua do Cais',
        city: 'Porto',
        country_code: 'PT',
      },
    ],
  },
);

export const RoomType = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the room type: `room_type_id` of the inventory.' }),
    name: Type.String({ description: 'Its name, unique within the property.' }),
    max_occupancy: Type.Integer({ description: 'How many guests it is for.' }),
    base_price: Type.Union([Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } }), Type.Null()], {
      description: 'The price of a night where the room type has no active rate plan; null: none.',
    }),
    rate_plans: Type.Array(RatePlan, {
      description: 'Its active rate plans. One that was taken out of use is not shown.',
    }),
  },
  {
    title: 'PmsRoomType',
    description: 'Rooms that are sold as one, with the plans that they are sold under.',
    examples: [
      {
        id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        name: 'Double',
        max_occupancy: 2,
        base_price: '90.00',
        rate_plans: RATE_PLAN_EXAMPLES,
      },
    ],
  },
);

export const InventoryEntry = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day on which the night begins.' }),
    physical_capacity: Type.Integer({ description: 'How many rooms of the type there are.' }),
    sellable: Type.Integer({
      description: 'Capacity less the rooms that reservations hold. Below zero after an oversell, never cut off at 0.',
    }),
  },
  {
    title: 'InventoryEntry',
    description: 'One night of a room type.',
    examples: [{ date: '2030-05-01', physical_capacity: 14, sellable: 11 }],
  },
);

export const Inventory = Type.Array(InventoryEntry, {
  description: 'One entry a night, from `check_in` to the night before `check_out`.',
  examples: [
    [
      { date: '2030-05-01', physical_capacity: 14, sellable: 11 },
      { date: '2030-05-02', physical_capacity: 14, sellable: 4 },
      { date: '2030-05-03', physical_capacity: 14, sellable: 9 },
    ],
  ],
});

export const RateCalendar = Type.Array(Rate, {
  description: 'One entry a night, from `check_in` to the night before `check_out`.',
  examples: [
    [
      { date: '2030-05-01', price: '96.00', is_sold_out: false },
      { date: '2030-05-02', price: '110.00', is_sold_out: false },
      { date: '2030-05-03', price: '110.00', is_sold_out: true },
    ],
  ],
});

export const RatesWritten = Type.Array(Rate, {
  description: 'What was written: one entry for each date, by date.',
  examples: [
    [
      { date: '2030-05-02', price: '110.00', is_sold_out: false },
      { date: '2030-05-03', price: '110.00', is_sold_out: true },
    ],
  ],
});

export const RestrictionsWritten = Type.Object(
  { updated: Type.Integer({ description: 'How many entries were sent, repeated dates included.' }) },
  { title: 'RestrictionsWritten', description: 'What came of the call.', examples: [{ updated: 2 }] },
);

export const PropertyPath = Type.Object({
  property_id: Type.String({
    description: 'The id of the property. What is no UUID is a 404, as an unknown one.',
    examples: ['01a19b53-7418-7fc9-9841-34ae56728784'],
  }),
});

export const BookingPath = Type.Object({
  booking_id: Type.String({
    description: 'The `id` of the reservation. What is no UUID is a 404, as an unknown one.',
    examples: ['01a1f7cc-8abc-7b08-bcc8-b8e779d1e647'],
  }),
});

const RANGE = {
  check_in: Type.String({ format: 'date', description: 'The first night.', examples: ['2030-05-01'] }),
  check_out: Type.String({
    format: 'date',
    description: 'The day after the last night: after `check_in`, by at most 730 nights.',
    examples: ['2030-05-04'],
  }),
};

export const InventoryQuery = Type.Object({
  room_type_id: Type.String({
    format: 'uuid',
    description: 'The room type to read.',
    examples: ['01a19b53-7418-72ce-86a9-e7f8c3e6bf85'],
  }),
  ...RANGE,
});

export const RatesQuery = Type.Object({
  rate_plan_id: Type.String({
    format: 'uuid',
    description: 'The plan to read. It need not be active.',
    examples: ['01a19b53-7418-7800-ad62-07fe609eac8f'],
  }),
  ...RANGE,
});

export const ReservationsQuery = Type.Object({
  status: Type.Optional(
    Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description: 'Only reservations in this status.',
      examples: ['confirmed'],
    }),
  ),
});
