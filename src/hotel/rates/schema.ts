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
