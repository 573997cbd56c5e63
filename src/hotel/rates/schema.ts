import Type from 'typebox';
import { MAX_ENTRIES } from '#platform/lib/bounds.ts';
import { Price } from '#platform/lib/price.ts';
import { boolean, date, integer, MAX_INTEGER, orNull, price, text, uuid } from '#platform/lib/fields.ts';

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

export const RatePlan = Type.Object(
  {
    id: uuid('The id of the plan. Calls for rates and restrictions take it as `rate_plan_id`.'),
    name: text('The name of the plan, unique within the room type.'),
    base_price: price('The price of each night that has no price of its own, in the currency of the tenant.'),
    is_refundable: boolean('True if the guest gets the money back after a cancellation.'),
    min_nights: integer('The shortest stay that can be booked under the plan, in nights.'),
  },
  {
    title: 'RatePlan',
    description: 'A rate plan, under which a room type is sold.',
    examples: RATE_PLAN_EXAMPLES.slice(0, 1),
  },
);
export type RatePlan = Type.Static<typeof RatePlan>;

export const Rate = Type.Object(
  {
    date: date('The day on which the night begins.'),
    price: price("The price of the night. If no price was written for the night, it is the plan's `base_price`."),
    is_sold_out: boolean('True if the plan is closed for this night, by a rate or by `stop_sell`.'),
  },
  {
    title: 'Rate',
    description: 'The price of one night under a rate plan.',
    examples: [{ date: '2030-05-02', price: '110.00', is_sold_out: false }],
  },
);
export type Rate = Type.Static<typeof Rate>;

const PlanId = uuid('The rate plan to change. It may be inactive.');
const Night = date('The day on which the night begins. It may be in the past.');
const Closed = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'True closes the plan for this night. False opens it. A missing value counts as false.',
  }),
);
const ENTRIES = {
  minItems: 1,
  maxItems: MAX_ENTRIES,
  description: 'One entry for each night. If several entries have the same date, the last entry wins.',
};

const RateWrite = Type.Object(
  {
    date: Night,
    price: Type.Unsafe<string | number>({
      ...Price,
      description:
        'The price of the night, 0 to 99999999.99 with at most two decimals. It may be a string or a number. If the currency of the ' +
        'tenant has no decimals, as JPY, it is a whole number.',
    }),
    is_sold_out: Closed,
  },
  { title: 'RateWrite', description: 'The new price of one night.' },
);

export const RatesWrite = Type.Object(
  { rate_plan_id: PlanId, rates: Type.Array(RateWrite, ENTRIES) },
  {
    title: 'RatesWrite',
    description: 'New prices of nights under one rate plan.',
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
      orNull(
        Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
        'The shortest stay under the plan, in nights. It applies to the whole plan and not only to the date of its entry. If ' +
          'several entries have a value, the last one applies. Null or a missing value changes nothing.',
      ),
    ),
  },
  { title: 'RestrictionWrite', description: 'Closes or opens one night, and may set the shortest stay of the plan.' },
);

export const RestrictionsWrite = Type.Object(
  { rate_plan_id: PlanId, restrictions: Type.Array(RestrictionWrite, ENTRIES) },
  {
    title: 'RestrictionsWrite',
    description: 'New restrictions of one rate plan: closed nights and the shortest stay.',
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
