import Type from 'typebox';
import { matching } from '#platform/lib/patterns.ts';
import { SoldAmount } from '#platform/lib/price.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import { boolean, date, MAX_INTEGER, oneOf, orNull, text, textUpTo, time, uuid } from '#platform/lib/fields.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';

export const ChannelCreate = Type.Object(
  {
    source: textUpTo(
      100,
      'The name of the OTA. Reservations that come through the channel have it as `external_source`. Two channels with ' +
        'one source share their reservations, so a new channel can replace an old one without duplicate reservations.',
      { ...TRIMMED, minLength: 1 },
    ),
  },
  { title: 'ChannelCreate', description: 'A new channel for an OTA.', examples: [{ source: 'staywell' }] },
);

const CHANNEL_FIELDS = {
  id: uuid('The id of the channel. The calls that revoke and rotate the channel use it.'),
  source: text('The name of the OTA.'),
  channel_key: text('The key of the channel, which is not secret. Each call of the OTA carries it as `X-Channel-Key`.'),
};

const EXAMPLE = {
  id: '01a19bac-babe-769e-b656-8cd8b4659389',
  source: 'staywell',
  channel_key: 'rck_AJumzW3vEAu2VZfd3f3djQ',
};

export const Channel = Type.Object(
  {
    ...CHANNEL_FIELDS,
    is_active: boolean('False if the channel is revoked. A revoked channel stays revoked.'),
    created_at: time('The time at which the channel was created.'),
  },
  {
    title: 'Channel',
    description: 'A channel through which an OTA sends reservations, without its secret.',
    examples: [{ ...EXAMPLE, is_active: true, created_at: '2026-11-02T09:52:30.910Z' }],
  },
);
export type Channel = Type.Static<typeof Channel>;

export const ChannelSecret = Type.Object(
  {
    ...CHANNEL_FIELDS,
    channel_secret: text('The secret with which the OTA signs its calls, as text. Only this response shows it.'),
  },
  {
    title: 'ChannelSecret',
    description: 'A new channel with its key and its secret. Enter both at the OTA.',
    examples: [{ ...EXAMPLE, channel_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe' }],
  },
);
export type ChannelSecret = Type.Static<typeof ChannelSecret>;

export const ChannelPath = Type.Object({
  id: text('The id of the channel, as the list shows it.', EXAMPLE.id),
});

const NullableText = (description: string) => Type.Optional(orNull(Type.String(TRIMMED), description));
/** Id of a rate plan, or an empty text if the OTA names no plan. */
const PlanId = Type.String(
  matching('^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$', 'must be a UUID, or null if there is none'),
);

export const OtaReservation = Type.Object(
  {
    external_id: textUpTo(
      150,
      "The OTA's own id of the reservation. Together with the channel's source it identifies the reservation.",
      { minLength: 1 },
    ),
    status: oneOf(
      RESERVATION_STATUSES,
      'The present status of the reservation. Any status may follow any other. `cancelled` and `expired` hold no nights.',
    ),
    room_type_id: uuid('The room type that the OTA has sold.'),
    rate_plan_id: Type.Optional(
      orNull(
        PlanId,
        'The rate plan of the stay. If it is missing, null or empty, a new reservation gets the cheapest plan, and a known ' +
          'reservation keeps its plan if its room type stays the same.',
      ),
    ),
    check_in: date('The day of arrival. It may be in the past.'),
    check_out: date('The day of departure. It is after `check_in`, by at most 730 nights.'),
    guests: Type.Optional(
      orNull(
        Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
        'The number of guests. It may be above the `max_occupancy` of the room type. If it is missing, null or 0, a new ' +
          'reservation has 1 guest, and a known reservation keeps its number.',
      ),
    ),
    total_amount: Type.Optional(
      Type.Unsafe<string | number | null>({
        ...SoldAmount,
        description:
          'The price of the whole stay. It may be a string or a number. It is rounded half up to the decimals of the currency. If ' +
          'it is missing, null or empty, a new reservation gets the price of its rate plan, and a known reservation keeps its amount.',
      }),
    ),
    guest: Type.Object(
      {
        full_name: Type.String({
          ...TRIMMED,
          minLength: 1,
          description: 'The name of the guest. Only its first 500 characters are stored.',
        }),
        phone: NullableText(
          'The telephone number of the guest. Only its first 20 characters are stored. An empty text is stored as null.',
        ),
        email: NullableText(
          'The e-mail address of the guest. An empty text is stored as null. So is a text of more than 254 characters, because no ' +
            'e-mail address is so long, and a part of it would be the address of somebody else.',
        ),
      },
      { description: 'The guest of the stay.' },
    ),
  },
  {
    title: 'OtaReservation',
    description:
      'The present state of a reservation at its OTA. It always holds the whole reservation, not only changes.',
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
