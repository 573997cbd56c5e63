import Type from 'typebox';
import { boolean, integer, orNull, textUpTo, time, timeOrNull } from '#platform/lib/fields.ts';
import { Credential, CREDENTIAL_EXAMPLE, CredentialSecret } from '#access/credentials/credentials.ts';

export const CredentialDeliveries = Type.Object(
  {
    pending: integer('Number of deliveries that wait for their next attempt.'),
    failed: integer('Number of failed deliveries that are still kept.'),
    last_failed_at: timeOrNull(
      'Time of the last attempt of the newest failed delivery. Null if no delivery has failed.',
    ),
    oldest_pending_at: timeOrNull('Time of the event of the oldest waiting delivery. Null if no delivery waits.'),
  },
  { title: 'CredentialDeliveries', description: 'The state of the deliveries to the partner.' },
);
export type CredentialDeliveries = Type.Static<typeof CredentialDeliveries>;

const ENTRY_EXAMPLE = {
  ...CREDENTIAL_EXAMPLE,
  deliveries: {
    pending: 1,
    failed: 1,
    last_failed_at: '2026-11-18T21:07:55.330Z',
    oldest_pending_at: '2026-11-20T19:05:31.208Z',
  },
};

export const StaffCredential = Type.Object(
  { ...Credential.properties, deliveries: CredentialDeliveries },
  {
    title: 'StaffCredential',
    description: 'The credential of a partner, and the state of its deliveries.',
    examples: [ENTRY_EXAMPLE],
  },
);

const CredentialBudget = Type.Object(
  {
    limit: integer('Number of calls that the credential may make in one minute.'),
    used: integer(
      'Number of calls that count in the present minute, at most `limit`. The credential may make `limit` minus `used` more calls in ' +
        'this minute.',
    ),
    resets_in_s: integer(
      'Whole seconds until the present minute ends, rounded up. 0 if the credential has made no call in the last minute.',
    ),
    is_shared: boolean(
      'True if all processes of the service count together, so that `used` includes all calls. False if each process has its own ' +
        'count, because there is no Redis or because Redis does not answer. `used` is then the count of the process that answered this ' +
        'call. While Redis does not answer, each process accepts only its share of the budget, and counts the rest as used.',
    ),
  },
  { title: 'CredentialBudget', description: 'The budget of calls. This call takes nothing from the budget.' },
);
export type CredentialBudget = Type.Static<typeof CredentialBudget>;

const milliseconds = (description: string) => orNull(Type.Integer(), description);

const HealthHour = Type.Object(
  {
    at: time('The beginning of the hour.'),
    delivered: integer('Number of deliveries that the receiver has accepted.'),
    failed: integer('Number of deliveries whose fifth attempt has failed.'),
    pending: integer('Number of deliveries that wait for an attempt.'),
    p50_ms: milliseconds(
      'Median duration of the attempts that the receiver has accepted, in milliseconds. Null if it has accepted no delivery.',
    ),
    p95_ms: milliseconds(
      'Duration that 95 % of these attempts did not exceed, in milliseconds. Null if `p50_ms` is null.',
    ),
  },
  { title: 'HealthHour', description: 'The deliveries of the events of one hour.' },
);

const CredentialHealth = Type.Object(
  {
    since: time(
      'The time from which the hours have all events. It is 24 hours ago. If the partner had more than 5,000 events since then, it is ' +
        'later, because only the newest 5,000 events count.',
    ),
    hours: Type.Array(HealthHour, {
      description:
        'Each hour from `since` until now, oldest first, including hours without deliveries. A delivery belongs to the hour of its event.',
    }),
  },
  { title: 'CredentialHealth', description: 'The results of the deliveries to the partner in the last 24 hours.' },
);
export type CredentialHealth = Type.Static<typeof CredentialHealth>;

export const StaffCredentialDetail = Type.Object(
  { ...StaffCredential.properties, budget: CredentialBudget, health: CredentialHealth },
  {
    title: 'StaffCredentialDetail',
    description: 'A credential with its deliveries, its budget of calls and its last 24 hours.',
    examples: [
      {
        ...ENTRY_EXAMPLE,
        budget: { limit: 300, used: 12, resets_in_s: 41, is_shared: true },
        health: {
          since: '2026-11-20T18:10:00.000Z',
          hours: [
            { at: '2026-11-20T18:00:00.000Z', delivered: 31, failed: 1, pending: 0, p50_ms: 38, p95_ms: 120 },
            { at: '2026-11-20T19:00:00.000Z', delivered: 0, failed: 0, pending: 1, p50_ms: null, p95_ms: null },
          ],
        },
      },
    ],
  },
);

export const CredentialChange = Type.Object(
  {
    label: textUpTo(
      255,
      'The new name of the credential. It may be empty. It has no effect on the partner or the PMS.',
    ),
  },
  { title: 'CredentialChange', description: 'The new label of a credential.', examples: [{ label: 'City Delivery' }] },
);

/** One day. */
const MAX_OVERLAP_MINUTES = 1_440;

export const CredentialRotation = Type.Object(
  {
    overlap_minutes: Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_MINUTES,
      description:
        'Minutes for which the replaced secret still works, at most a day. With 0, this secret ends immediately. If it may have leaked, ' +
        'send 0.',
    }),
  },
  { title: 'CredentialRotation', description: 'The overlap of a rotation.', examples: [{ overlap_minutes: 60 }] },
);

export const RotatedCredential = Type.Object(
  {
    ...CredentialSecret.properties,
    previous_secret_ends_at: time(
      'The time until which the replaced secret works. With an overlap of 0, this is the time of the rotation.',
    ),
  },
  {
    title: 'RotatedCredential',
    description: 'The key with the new secret, and the end of the replaced secret.',
    examples: [
      {
        id: '01a19b98-4e38-7e26-9b6f-564601a1fe8d',
        label: 'City Delivery',
        api_key: 'rsk_cmLYmA0l5iGq574RsMHcvw',
        api_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe',
        previous_secret_ends_at: '2026-11-20T20:05:31.208Z',
      },
    ],
  },
);
