import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { integer, orNull, text, uuid } from '#platform/lib/fields.ts';
import { RATE_PLAN_EXAMPLES, RatePlan } from '../rates/rates.ts';

const StaffRoomType = Type.Object(
  {
    id: uuid('The id of the room type.'),
    name: text('The name of the room type, unique within the property.'),
    description: text('A text about the room type for guests. It may be empty.'),
    max_occupancy: integer('The largest number of guests in one room.'),
    base_price: orNull(
      Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } }),
      'The price of one night if the room type has no active rate plan. Null means that no price is set.',
    ),
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
