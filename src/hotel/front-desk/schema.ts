import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { RATE_PLAN_EXAMPLES, RatePlan } from '../rates/rates.ts';

const StaffRoomType = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the room type.' }),
    name: Type.String({ description: 'Its name, unique within the property.' }),
    description: Type.String({ description: 'What a guest should know of it; may be empty.' }),
    max_occupancy: Type.Integer({ description: 'How many guests it is for.' }),
    base_price: Type.Union([Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } }), Type.Null()], {
      description: 'The price of a night where the room type has no active rate plan; null: none.',
    }),
    physical_capacity: Type.Integer({ description: 'How many rooms of this type there are.' }),
    amenities: Type.Array(Type.String(), { description: 'What is in the room, in words.' }),
    images: Type.Array(Type.String({ [DOCUMENTED]: { format: 'uri' } }), { description: 'URLs of pictures.' }),
    rate_plans: Type.Array(RatePlan, { description: 'Its active rate plans.' }),
  },
  { title: 'StaffRoomType', description: 'A room type with its capacity and active rate plans.' },
);

/** A property as staff see it: with its clock, room types, capacities and active rate plans. */
export const StaffProperty = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the property.' }),
    name: Type.String({ description: 'Its name, unique within the tenant.' }),
    address: Type.String({ description: 'Street and number; may be empty.' }),
    city: Type.String({ description: 'The city; may be empty.' }),
    country_code: Type.String({ description: 'The country, two letters of ISO 3166.' }),
    timezone: Type.String({ description: 'The time zone of the house, by its IANA name.' }),
    check_in_time: Type.String({ description: 'From when rooms are ready on the day of arrival, HH:MM in that zone.' }),
    check_out_time: Type.String({
      description: 'Until when rooms are left on the day of departure, HH:MM in that zone.',
    }),
    room_types: Type.Array(StaffRoomType, {
      description: 'Its active room types, in the order of the tenant document.',
    }),
  },
  {
    title: 'StaffProperty',
    description: 'A property with its clock and room types.',
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
