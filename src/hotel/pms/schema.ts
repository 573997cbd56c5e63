import Type from 'typebox';
import { date, integer, oneOf, text, uuid } from '#platform/lib/fields.ts';
import { RATE_PLAN_EXAMPLES, Rate, RatePlan } from '../rates/rates.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';
import { RoomTypePrice } from '../rooms/rooms.ts';

export const Property = Type.Object(
  {
    id: uuid('The id of the property. Paths have it as `property_id`.'),
    name: text('The name of the property.'),
    address: text('The street and number of the property. It may be empty.'),
    city: text('The city of the property. It may be empty.'),
    country_code: text('The country of the property, as two letters of ISO 3166.'),
  },
  {
    title: 'PmsProperty',
    description: 'A hotel building of the tenant.',
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
    id: uuid('The id of the room type. The inventory call takes it as `room_type_id`.'),
    name: text('The name of the room type, unique within the property.'),
    max_occupancy: integer('The largest number of guests in one room.'),
    base_price: RoomTypePrice,
    rate_plans: Type.Array(RatePlan, {
      description: 'The active rate plans of the room type. Inactive plans are not shown.',
    }),
  },
  {
    title: 'PmsRoomType',
    description: 'Rooms of one kind, which are sold under one name, with their active rate plans.',
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

const INVENTORY = [
  { date: '2030-05-01', physical_capacity: 14, sellable: 11 },
  { date: '2030-05-02', physical_capacity: 14, sellable: 4 },
  { date: '2030-05-03', physical_capacity: 14, sellable: 9 },
];
const RATES = [
  { date: '2030-05-01', price: '96.00', is_sold_out: false },
  { date: '2030-05-02', price: '110.00', is_sold_out: false },
  { date: '2030-05-03', price: '110.00', is_sold_out: true },
];

const InventoryEntry = Type.Object(
  {
    date: date('The day on which the night begins.'),
    physical_capacity: integer('The number of rooms of the room type.'),
    sellable: integer('The capacity minus the rooms that reservations hold. It is negative after an oversell.'),
  },
  {
    title: 'InventoryEntry',
    description: 'The capacity and the sellable rooms of a room type in one night.',
    examples: INVENTORY.slice(0, 1),
  },
);

export const Inventory = Type.Array(InventoryEntry, {
  description: 'One entry for each night, from `check_in` to the night before `check_out`.',
  examples: [INVENTORY],
});

export const RateCalendar = Type.Array(Rate, {
  description: 'One entry for each night, from `check_in` to the night before `check_out`.',
  examples: [RATES],
});

export const RatesWritten = Type.Array(Rate, {
  description: 'The written rates, one entry for each date, sorted by date.',
  examples: [RATES.slice(1)],
});

export const RestrictionsWritten = Type.Object(
  { updated: integer('The number of entries in the call, including repeated dates.') },
  { title: 'RestrictionsWritten', description: 'The result of the call.', examples: [{ updated: 2 }] },
);

export const PropertyPath = Type.Object({
  property_id: text(
    'The id of the property. A value that is not a UUID gets 404, like an unknown id.',
    '01a19b53-7418-7fc9-9841-34ae56728784',
  ),
});

export const BookingPath = Type.Object({
  booking_id: text(
    'The `id` of the reservation. A value that is not a UUID gets 404, like an unknown id.',
    '01a1f7cc-8abc-7b08-bcc8-b8e779d1e647',
  ),
});

const RANGE = {
  check_in: date('The day on which the first night begins.', '2030-05-01'),
  check_out: date('The day after the last night. It is after `check_in`, by at most 730 nights.', '2030-05-04'),
};

export const InventoryQuery = Type.Object({
  room_type_id: uuid('The room type to read.', '01a19b53-7418-72ce-86a9-e7f8c3e6bf85'),
  ...RANGE,
});

export const RatesQuery = Type.Object({
  rate_plan_id: uuid('The rate plan to read. It may be inactive.', '01a19b53-7418-7800-ad62-07fe609eac8f'),
  ...RANGE,
});

export const ReservationsQuery = Type.Object({
  status: Type.Optional(oneOf(RESERVATION_STATUSES, 'Lists only reservations with this status.', 'confirmed')),
});
