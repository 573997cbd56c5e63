import Type from 'typebox';
import { MONEY_PATTERN } from '../lib/money.ts';

const MAX_INTEGER = 2_147_483_647;
const Uuid = Type.String({ format: 'uuid' });
const Money = Type.String({ pattern: MONEY_PATTERN });
const Time = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'HH:MM' });

// The `properties` part of the tenant document.

const RatePlanDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  base_price: Money,
  is_refundable: Type.Optional(Type.Boolean()),
  min_nights: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  is_active: Type.Optional(Type.Boolean()),
});
export type RatePlanDocument = Type.Static<typeof RatePlanDocument>;

const RoomTypeDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Type.String()),
  max_occupancy: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
  base_price: Type.Optional(Type.Union([Money, Type.Null()])),
  physical_capacity: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  amenities: Type.Optional(Type.Array(Type.String())),
  images: Type.Optional(Type.Array(Type.String({ format: 'uri', maxLength: 2048 }))),
  rate_plans: Type.Optional(Type.Array(RatePlanDocument)),
});
export type RoomTypeDocument = Type.Static<typeof RoomTypeDocument>;

export const PropertyDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  address: Type.Optional(Type.String()),
  city: Type.Optional(Type.String()),
  country_code: Type.String({ pattern: '^[A-Z]{2}$' }),
  timezone: Type.String({ minLength: 1 }),
  check_in_time: Type.Optional(Time),
  check_out_time: Type.Optional(Time),
  room_types: Type.Optional(Type.Array(RoomTypeDocument)),
});
export type PropertyDocument = Type.Static<typeof PropertyDocument>;

const Property = Type.Object({
  id: Uuid,
  name: Type.String(),
  city: Type.String(),
  country_code: Type.String(),
});

/** The room type as partners see it (decision 27). */
export const RoomType = Type.Object({
  room_type_id: Uuid,
  name: Type.String(),
  description: Type.String(),
  max_occupancy: Type.Integer(),
  base_price: Type.Union([Money, Type.Null()]),
  currency: Type.String(),
  property: Property,
  amenities: Type.Array(Type.String()),
  images: Type.Array(Type.String()),
});
export type RoomType = Type.Static<typeof RoomType>;
