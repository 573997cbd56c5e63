import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { Price } from '#platform/lib/price.ts';

const MAX_INTEGER = 2_147_483_647;
const MAX_ENTRIES = 1_000;

/** The plans of the demo tenant's Double, as the documents show them. */
export const RATE_PLAN_EXAMPLES = [
  {
    id: '01a19b53-7418-7800-ad62-07fe609eac8f',
    name: 'Flexible',
    base_price: '96.00',
    is_refundable: true,
    min_nights: 1,
  },
  {
    id: '01a19b53-7418-7e7b-9678-4cd815b26365',
    name: 'Non-refundable',
    base_price: '84.48',
    is_refundable: false,
    min_nights: 1,
  },
];

/** PMS contract §2: a room type's plan. */
export const RatePlan = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the plan: `rate_plan_id` of rates and restrictions.' }),
    name: Type.String({ description: 'Its name, unique within the room type.' }),
    base_price: Type.String({
      [DOCUMENTED]: { pattern: MONEY_PATTERN },
      description: 'The price of a night that has none of its own, in the currency of the tenant.',
    }),
    is_refundable: Type.Boolean({ description: 'Whether the guest gets the money back after cancelling.' }),
    min_nights: Type.Integer({ description: 'The shortest stay that the plan is sold for.' }),
  },
  {
    title: 'RatePlan',
    description: 'One of the ways in which a room type is sold.',
    examples: RATE_PLAN_EXAMPLES.slice(0, 1),
  },
);
export type RatePlan = Type.Static<typeof RatePlan>;

/** PMS contract §2: the price of one night under a plan. */
export const Rate = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day on which the night begins.' }),
    price: Type.String({
      [DOCUMENTED]: { pattern: MONEY_PATTERN },
      description: "The price of the night: its own, or else the plan's `base_price`.",
    }),
    is_sold_out: Type.Boolean({
      description: 'Whether the plan is closed for this night, by a rate or by `stop_sell`.',
    }),
  },
  {
    title: 'Rate',
    description: 'One night under a rate plan.',
    examples: [{ date: '2030-05-02', price: '110.00', is_sold_out: false }],
  },
);
export type Rate = Type.Static<typeof Rate>;

const PlanId = Type.String({ format: 'uuid', description: 'The plan to write to. It need not be active.' });
const Night = Type.String({
  format: 'date',
  description: 'The day on which the night begins; it may lie in the past.',
});
const Closed = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Closes the plan for this night. Left out it is false, and so opens the night.',
  }),
);
const ENTRIES = {
  minItems: 1,
  maxItems: MAX_ENTRIES,
  description: 'One entry a night. The last one for a date wins.',
};

const RateWrite = Type.Object(
  {
    date: Night,
    price: Type.Unsafe<string | number>({
      ...Price,
      description: 'The price of the night, 0 to 99999999.99 with at most two decimals, as text or number.',
    }),
    is_sold_out: Closed,
  },
  { title: 'RateWrite', description: 'The price of one night.' },
);

export const RatesWrite = Type.Object(
  { rate_plan_id: PlanId, rates: Type.Array(RateWrite, ENTRIES) },
  {
    title: 'RatesWrite',
    description: 'Prices of some nights under one plan.',
    examples: [
      {
        rate_plan_id: '01a19b53-7418-7800-ad62-07fe609eac8f',
        rates: [
          { date: '2030-05-02', price: '110.00' },
          { date: '2030-05-03', price: '110.00', is_sold_out: true },
        ],
      },
    ],
  },
);
export type RatesWrite = Type.Static<typeof RatesWrite>;

const RestrictionWrite = Type.Object(
  {
    date: Night,
    stop_sell: Closed,
    min_nights: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), Type.Null()], {
        description:
          'The shortest stay of the whole plan, whatever date it stands beside: of several the last one counts. ' +
          'Null or left out it changes nothing.',
      }),
    ),
  },
  { title: 'RestrictionWrite', description: 'Whether one night is closed, and a shortest stay for the plan.' },
);

export const RestrictionsWrite = Type.Object(
  { rate_plan_id: PlanId, restrictions: Type.Array(RestrictionWrite, ENTRIES) },
  {
    title: 'RestrictionsWrite',
    description: 'What one plan is closed for, and its shortest stay.',
    examples: [
      {
        rate_plan_id: '01a19b53-7418-7800-ad62-07fe609eac8f',
        restrictions: [
          { date: '2030-05-03', stop_sell: true },
          { date: '2030-05-04', min_nights: 2 },
        ],
      },
    ],
  },
);
export type RestrictionsWrite = Type.Static<typeof RestrictionsWrite>;

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
