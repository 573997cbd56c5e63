import Type from 'typebox';
import { Price } from '#platform/lib/price.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';

const MAX_INTEGER = 2_147_483_647;

/** Decision 30. */
export const ChannelCreate = Type.Object(
  {
    source: Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'The OTA behind the channel; `external_source` of every reservation that comes through it. Two channels of ' +
        'one source share their reservations, so a channel can be replaced without doubling them.',
    }),
  },
  { title: 'ChannelCreate', description: 'Where a new channel leads.', examples: [{ source: 'staywell' }] },
);

const CHANNEL_FIELDS = {
  id: Type.String({ format: 'uuid', description: 'The id of the channel, to revoke it by.' }),
  source: Type.String({ description: 'The OTA behind it.' }),
  channel_key: Type.String({ description: 'The public half: every call of the OTA carries it as `X-Channel-Key`.' }),
};

export const Channel = Type.Object(
  {
    ...CHANNEL_FIELDS,
    is_active: Type.Boolean({ description: 'False once it is revoked, which is for good.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
  },
  {
    title: 'Channel',
    description: "An OTA's way in, without its secret.",
    examples: [
      {
        id: '01a19bac-babe-769e-b656-8cd8b4659389',
        source: 'staywell',
        channel_key: 'rck_AJumzW3vEAu2VZfd3f3djQ',
        is_active: true,
        created_at: '2026-11-02T09:52:30.910Z',
      },
    ],
  },
);
export type Channel = Type.Static<typeof Channel>;

/** The only answer that ever holds the secret. */
export const ChannelSecret = Type.Object(
  {
    ...CHANNEL_FIELDS,
    channel_secret: Type.String({
      description: 'What the OTA signs its calls with, as text. It is shown in this answer and never again.',
    }),
  },
  {
    title: 'ChannelSecret',
    description: 'Key and secret together, to be entered at the OTA.',
    examples: [
      {
        id: '01a19bac-babe-769e-b656-8cd8b4659389',
        source: 'staywell',
        channel_key: 'rck_AJumzW3vEAu2VZfd3f3djQ',
        channel_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe',
      },
    ],
  },
);
export type ChannelSecret = Type.Static<typeof ChannelSecret>;

export const ChannelPath = Type.Object({
  id: Type.String({
    description: 'The id of the channel, as the list shows it.',
    examples: ['01a19bac-babe-769e-b656-8cd8b4659389'],
  }),
});

const NullableText = (maxLength: number, description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }));

/** A reservation as an OTA tells of it: whole, each time it changes. */
export const OtaReservation = Type.Object(
  {
    external_id: Type.String({
      minLength: 1,
      maxLength: 150,
      description: "The OTA's own id of the reservation. With the channel's source it says which reservation is meant.",
    }),
    status: Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description: 'Where the reservation stands. Any status may follow any; `cancelled` and `expired` hold no nights.',
    }),
    room_type_id: Type.String({ format: 'uuid', description: 'The room type that was sold.' }),
    rate_plan_id: Type.Optional(
      Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
        description:
          'The rate plan it was sold under. Without one a new reservation gets the cheapest, and a known one keeps ' +
          'its own while its room type stays the same.',
      }),
    ),
    check_in: Type.String({ format: 'date', description: 'The day of arrival. It may lie in the past.' }),
    check_out: Type.String({
      format: 'date',
      description: 'The day of departure: after `check_in`, by at most 730 nights.',
    }),
    guests: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_INTEGER,
        description: 'How many stay, however many the room type is for. Without it 1, or as many as before.',
      }),
    ),
    total_amount: Type.Optional(
      Type.Unsafe<string | number>({
        ...Price,
        description:
          'What the stay costs, 0 to 99999999.99 with at most two decimals, as text or number. Without it a new ' +
          'reservation is priced by its rate plan and a known one keeps its amount.',
      }),
    ),
    guest: Type.Object(
      {
        full_name: Type.String({ minLength: 1, maxLength: 500, description: 'The name to ask for at the door.' }),
        phone: NullableText(20, 'A telephone number; null or left out where there is none.'),
        email: NullableText(254, 'An e-mail address; null or left out where there is none.'),
      },
      { description: 'Who stays.' },
    ),
  },
  {
    title: 'OtaReservation',
    description: 'A reservation as its OTA knows it: always the whole of it, not what changed.',
    examples: [
      {
        external_id: 'SW-88213',
        status: 'confirmed',
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        rate_plan_id: '01a19b53-7418-7800-ad62-07fe609eac8f',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        total_amount: '288.00',
        guest: { full_name: 'Tomás Ferreira', phone: '+351 911 222 333', email: 'tomas@example.com' },
      },
    ],
  },
);
export type OtaReservation = Type.Static<typeof OtaReservation>;
