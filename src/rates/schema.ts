import Type from 'typebox';
import { Price } from '../lib/price.ts';

const MAX_INTEGER = 2_147_483_647;
const MAX_ENTRIES = 1_000;
const Uuid = Type.String({ format: 'uuid' });
const Day = Type.String({ format: 'date' });

/** PMS contract §2: a room type's plan. */
export const RatePlan = Type.Object({
  id: Uuid,
  name: Type.String(),
  base_price: Type.String(),
  is_refundable: Type.Boolean(),
  min_nights: Type.Integer(),
});
export type RatePlan = Type.Static<typeof RatePlan>;

/** PMS contract §2: the price of one night under a plan. */
export const Rate = Type.Object({ date: Day, price: Type.String(), is_sold_out: Type.Boolean() });
export type Rate = Type.Static<typeof Rate>;

export const RatesWrite = Type.Object({
  rate_plan_id: Uuid,
  rates: Type.Array(Type.Object({ date: Day, price: Price, is_sold_out: Type.Optional(Type.Boolean()) }), {
    minItems: 1,
    maxItems: MAX_ENTRIES,
  }),
});
export type RatesWrite = Type.Static<typeof RatesWrite>;

export const RestrictionsWrite = Type.Object({
  rate_plan_id: Uuid,
  restrictions: Type.Array(
    Type.Object({
      date: Day,
      stop_sell: Type.Optional(Type.Boolean()),
      min_nights: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), Type.Null()])),
    }),
    { minItems: 1, maxItems: MAX_ENTRIES },
  ),
});
export type RestrictionsWrite = Type.Static<typeof RestrictionsWrite>;

/** A property as staff see it: with its clock, room types, capacities and active rate plans. */
export const StaffProperty = Type.Object({
  id: Uuid,
  name: Type.String(),
  address: Type.String(),
  city: Type.String(),
  country_code: Type.String(),
  timezone: Type.String(),
  check_in_time: Type.String(),
  check_out_time: Type.String(),
  room_types: Type.Array(
    Type.Object({
      id: Uuid,
      name: Type.String(),
      description: Type.String(),
      max_occupancy: Type.Integer(),
      base_price: Type.Union([Type.String(), Type.Null()]),
      physical_capacity: Type.Integer(),
      amenities: Type.Array(Type.String()),
      images: Type.Array(Type.String()),
      rate_plans: Type.Array(RatePlan),
    }),
  ),
});
