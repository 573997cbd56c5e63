import Type from 'typebox';
import { MAX_ENTRIES } from '#platform/lib/bounds.ts';
import { MONEY } from '#platform/lib/money.ts';
import { boolean, date, integer, integerFrom, orNull, price, priceOrNull, text, uuid } from '#platform/lib/fields.ts';
import { RATE_PLAN_EXAMPLES } from './schema.ts';

const FLEXIBLE = '01a19b53-7418-7800-ad62-07fe609eac8f';

const OwnPrice = orNull(
  Type.String(MONEY),
  'The own price of the night, as text. Null means the `base_price` of the plan.',
);
const IsSoldOut = boolean('True if the plan is closed for the night.');

const NightChange = Type.Object(
  {
    rate_plan_id: uuid('The rate plan. It may be inactive.'),
    date: date(
      'The day on which the night begins. It may be in the past. A call names each night of a plan at most once.',
    ),
    price: Type.Optional(
      orNull(
        Type.String(MONEY),
        'The new price of the night, as text with at most two decimals, or with none if the currency of the tenant has none. Null removes the own price, so that the `base_price` of ' +
          'the plan applies. A missing value keeps the price.',
      ),
    ),
    is_sold_out: Type.Optional(
      boolean('True closes the plan for the night, and false opens it. A missing value changes nothing.'),
    ),
    expected: Type.Optional(
      Type.Object(
        { price: OwnPrice, is_sold_out: IsSoldOut },
        {
          description:
            'The values that the night must still have. If it has other values, the call is refused with 409 and changes no night.',
        },
      ),
    ),
  },
  { title: 'NightChange', description: 'New values of one night under one rate plan.' },
);
export type NightChange = Type.Static<typeof NightChange>;

export const RateChanges = Type.Object(
  {
    changes: Type.Array(NightChange, {
      minItems: 1,
      maxItems: MAX_ENTRIES,
      description: 'One entry for each night of each rate plan. All entries are written, or none.',
    }),
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'True makes all checks and returns what would change, but changes nothing.',
      }),
    ),
  },
  {
    title: 'RateChanges',
    description: 'New prices and restrictions of nights, under one or several rate plans.',
    examples: [
      {
        changes: [
          {
            rate_plan_id: FLEXIBLE,
            date: '2030-05-02',
            price: '110.00',
            expected: { price: null, is_sold_out: false },
          },
          { rate_plan_id: FLEXIBLE, date: '2030-05-03', is_sold_out: true },
          { rate_plan_id: FLEXIBLE, date: '2030-05-04', price: null },
        ],
      },
    ],
  },
);
export type RateChanges = Type.Static<typeof RateChanges>;

const NightState = Type.Object(
  {
    price: priceOrNull('The own price of the night. Null means the `base_price` of the plan.'),
    is_sold_out: IsSoldOut,
  },
  { title: 'NightState', description: 'The price and the restriction of one night under a rate plan.' },
);
export type NightState = Type.Static<typeof NightState>;

const ChangedNight = Type.Object(
  {
    rate_plan_id: uuid('The rate plan.'),
    date: date('The day on which the night begins.'),
    before: NightState,
    after: NightState,
  },
  { title: 'ChangedNight', description: 'A night with its values before and after the call.' },
);
export type ChangedNight = Type.Static<typeof ChangedNight>;

export const RatesChanged = Type.Object(
  {
    changed: Type.Array(ChangedNight, {
      description: 'The nights whose values differ from before, in the order of the call. Other nights are left out.',
    }),
  },
  {
    title: 'RatesChanged',
    description: 'The real differences that the call made, or that a dry run would make.',
    examples: [
      {
        changed: [
          {
            rate_plan_id: FLEXIBLE,
            date: '2030-05-02',
            before: { price: null, is_sold_out: false },
            after: { price: '110.00', is_sold_out: false },
          },
          {
            rate_plan_id: FLEXIBLE,
            date: '2030-05-03',
            before: { price: null, is_sold_out: false },
            after: { price: null, is_sold_out: true },
          },
        ],
      },
    ],
  },
);
export type RatesChanged = Type.Static<typeof RatesChanged>;

export const RatePlanPath = Type.Object({
  id: text('The id of the rate plan. It may be inactive.', FLEXIBLE),
});

export const RatePlanChange = Type.Object(
  {
    base_price: Type.Optional(
      Type.String({
        ...MONEY,
        description:
          'The price of each night that has no price of its own, as text with at most two decimals, or with none if the currency of the ' +
          'tenant has none.',
      }),
    ),
    min_nights: Type.Optional(integerFrom(1, 'The shortest stay that can be booked under the plan, in nights.')),
  },
  {
    minProperties: 1,
    title: 'RatePlanChange',
    description: 'The fields to change, at least one. A missing field keeps its value.',
    examples: [{ min_nights: 2 }, { base_price: '99.00' }],
  },
);
export type RatePlanChange = Type.Static<typeof RatePlanChange>;

export const ChangedRatePlan = Type.Object(
  {
    id: uuid('The id of the plan.'),
    name: text('The name of the plan, unique within the room type.'),
    base_price: price('The price of each night that has no price of its own, in the currency of the tenant.'),
    min_nights: integer('The shortest stay that can be booked under the plan, in nights.'),
    is_active: boolean('False if no new stay can be booked under the plan.'),
  },
  {
    title: 'ChangedRatePlan',
    description: 'A rate plan after a change.',
    examples: RATE_PLAN_EXAMPLES.slice(0, 1).map(({ id, name, base_price }) => ({
      id,
      name,
      base_price,
      min_nights: 2,
      is_active: true,
    })),
  },
);
export type ChangedRatePlan = Type.Static<typeof ChangedRatePlan>;
