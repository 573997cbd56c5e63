import Type from 'typebox';
import { Price } from '../lib/price.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';

const MAX_INTEGER = 2_147_483_647;
const Uuid = Type.String({ format: 'uuid' });
const Day = Type.String({ format: 'date' });

/** Decision 30. */
export const ChannelCreate = Type.Object({ source: Type.String({ minLength: 1, maxLength: 100 }) });

export const Channel = Type.Object({
  id: Uuid,
  source: Type.String(),
  channel_key: Type.String(),
  is_active: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
});
export type Channel = Type.Static<typeof Channel>;

/** The only answer that ever holds the secret. */
export const ChannelSecret = Type.Object({
  id: Uuid,
  source: Type.String(),
  channel_key: Type.String(),
  channel_secret: Type.String(),
});
export type ChannelSecret = Type.Static<typeof ChannelSecret>;

export const ChannelPath = Type.Object({ id: Type.String() });

/** A reservation as an OTA tells of it: whole, each time it changes. */
export const OtaReservation = Type.Object({
  external_id: Type.String({ minLength: 1, maxLength: 150 }),
  status: Type.Enum([...RESERVATION_STATUSES], { type: 'string' }),
  room_type_id: Uuid,
  rate_plan_id: Type.Optional(Type.Union([Uuid, Type.Null()])),
  check_in: Day,
  check_out: Day,
  guests: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  total_amount: Type.Optional(Price),
  guest: Type.Object({
    full_name: Type.String({ minLength: 1, maxLength: 500 }),
    phone: Type.Optional(Type.Union([Type.String({ maxLength: 20 }), Type.Null()])),
    email: Type.Optional(Type.Union([Type.String({ maxLength: 254 }), Type.Null()])),
  }),
});
export type OtaReservation = Type.Static<typeof OtaReservation>;
