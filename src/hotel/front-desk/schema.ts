import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { date, integer, price, text, uuid } from '#platform/lib/fields.ts';
import { RATE_PLAN_EXAMPLES, RatePlan } from '../rates/rates.ts';
import { RoomTypePrice } from '../rooms/rooms.ts';

const StaffRoomType = Type.Object(
  {
    id: uuid('The id of the room type.'),
    name: text('The name of the room type, unique within the property.'),
    description: text('A text about the room type for guests. It may be empty.'),
    max_occupancy: integer('The largest number of guests in one room.'),
    base_price: RoomTypePrice,
    physical_capacity: integer('The number of rooms of this room type.'),
    amenities: Type.Array(Type.String(), { description: 'The names of the amenities in the room.' }),
    images: Type.Array(Type.String({ [DOCUMENTED]: { format: 'uri' } }), { description: 'The URLs of the pictures.' }),
    rate_plans: Type.Array(RatePlan, { description: 'The active rate plans of the room type.' }),
  },
  { title: 'StaffRoomType', description: 'A room type with its capacity and its active rate plans.' },
);

export const StaffProperty = Type.Object(
  {
    id: uuid('The id of the property.'),
    name: text('The name of the property, unique within the tenant.'),
    address: text('The street and number of the property. It may be empty.'),
    city: text('The city of the property. It may be empty.'),
    country_code: text('The country of the property, as two letters of ISO 3166.'),
    timezone: text('The IANA name of the time zone of the property.'),
    check_in_time: text(
      'The time from which rooms are ready on the day of arrival, as HH:MM in the time zone of the property.',
    ),
    check_out_time: text(
      'The time by which guests leave their rooms on the day of departure, as HH:MM in the time zone of the property.',
    ),
    room_types: Type.Array(StaffRoomType, {
      description: 'The active room types of the property, in the order of the tenant document.',
    }),
  },
  {
    title: 'StaffProperty',
    description: 'A property with its time zone, its check-in and check-out times and its room types.',
    examples: [
      {
        id: '01a19b53-7418-7fc9-9841-34ae56728784',
        name: 'Harbour House',
        address: '14 Rua do Cais',
        city: 'Porto',
        country_code: 'PT',
        timezone: 'Europe/Lisbon',
        check_in_time: '15:00',
        check_out_time: '11:00',
        room_types: [
          {
            id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
            name: 'Double',
            description: 'A double bed and a small balcony.',
            max_occupancy: 2,
            base_price: '90.00',
            physical_capacity: 14,
            amenities: ['wifi', 'balcony'],
            images: [],
            rate_plans: RATE_PLAN_EXAMPLES,
          },
        ],
      },
    ],
  },
);
export type StaffProperty = Type.Static<typeof StaffProperty>;

const Money = Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } });

export const CalendarQuery = Type.Object({
  property_id: uuid('The property, from the list of properties.', '01a19b53-7418-7fc9-9841-34ae56728784'),
  from: date('The first night of the calendar.', '2030-05-01'),
  to: date('The day after the last night. It is after `from`, by at most 400 nights.', '2030-05-04'),
});
export type CalendarQuery = Type.Static<typeof CalendarQuery>;

const CalendarRatePlan = Type.Object(
  {
    id: uuid('The id of the rate plan.'),
    name: text('The name of the rate plan, unique within the room type.'),
    base_price: price('The price of each night that has no price of its own.'),
    min_nights: integer('The shortest stay that can be booked under the plan, in nights.'),
    prices: Type.Array(Money, {
      description: 'The price of each night: its own price, or the `base_price` of the plan if it has no own price.',
    }),
    is_own: Type.Array(Type.Boolean(), { description: 'For each night, true if it has a price of its own.' }),
    closed: Type.Array(Type.Boolean(), { description: 'For each night, true if the plan is closed for sale.' }),
  },
  { title: 'CalendarRatePlan', description: 'A rate plan with its price and restriction of each night.' },
);
export type CalendarRatePlan = Type.Static<typeof CalendarRatePlan>;

const CalendarRoomType = Type.Object(
  {
    id: uuid('The id of the room type.'),
    name: text('The name of the room type, unique within the property.'),
    physical_capacity: integer('The number of rooms of this room type.'),
    held: Type.Array(Type.Integer(), {
      description:
        'The number of rooms that reservations hold in each night. It is above the capacity after an oversell.',
    }),
    rate_plans: Type.Array(CalendarRatePlan, {
      description: 'The active rate plans of the room type, in the order of the tenant document.',
    }),
  },
  { title: 'CalendarRoomType', description: 'A room type with its held rooms and its rate plans, night by night.' },
);
export type CalendarRoomType = Type.Static<typeof CalendarRoomType>;

export const StaffCalendar = Type.Object(
  {
    from: date('The first night of the calendar.'),
    to: date('The day after the last night.'),
    today: date('The current day in the time zone of the property.'),
    room_types: Type.Array(CalendarRoomType, {
      description: 'The active room types of the property, in the order of the tenant document.',
    }),
  },
  {
    title: 'StaffCalendar',
    description:
      'The calendar of a property. Each list of nights has one value for each night, from `from` to the night before `to`.',
    examples: [
      {
        from: '2030-05-01',
        to: '2030-05-04',
        today: '2030-04-28',
        room_types: [
          {
            id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
            name: 'Double',
            physical_capacity: 14,
            held: [3, 10, 5],
            rate_plans: RATE_PLAN_EXAMPLES.slice(0, 1).map(({ id, name, base_price, min_nights }) => ({
              id,
              name,
              base_price,
              min_nights,
              prices: [base_price, '110.00', '110.00'],
              is_own: [false, true, true],
              closed: [false, false, true],
            })),
          },
        ],
      },
    ],
  },
);
