import Type from 'typebox';
import { oneOf, text, textOrNull, time, uuid, uuidOrNull } from '#platform/lib/fields.ts';

const ACTOR_TYPES = ['user', 'display', 'credential', 'operator', 'anonymous'] as const;

const AUDIT_ACTIONS = [
  'credential.created',
  'credential.changed',
  'credential.revoked',
  'credential.rotated',
  'channel.created',
  'channel.revoked',
  'channel.rotated',
  'dish.changed',
  'dishes.availability_changed',
  'display.created',
  'display.paired',
  'display.removed',
  'menu.replaced',
  'opening_hours.changed',
  'pause.started',
  'pause.ended',
  'webhook.registered',
  'webhook.removed',
  'webhook.tested',
  'rate_plan.changed',
  'rates.changed',
  'rates.written',
  'restrictions.written',
  'reservation.booked',
  'reservation.changed',
  'reservation.arrival',
  'room_type.changed',
  'session.ended',
  'sign_in.failed',
  'user.created',
  'user.changed',
  'user.disabled',
  'user.enabled',
  'user.link_created',
  'user.password_changed',
  'tenant.applied',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

type SubjectOf<Action> = Action extends `${infer Subject}.${string}` ? Subject : never;
/** First part of an action: what it is about. */
export type AuditSubject = SubjectOf<AuditAction>;

const LISTED_ACTIONS = AUDIT_ACTIONS.map((action) => `\`${action}\``);

export const AuditEntry = Type.Object(
  {
    id: uuid('The id of the entry.'),
    at: time('The time of the action.'),
    actor: Type.Object(
      {
        type: oneOf(
          ACTOR_TYPES,
          '`user`: a user who signed in. `display`: a screen that is paired with the tenant. `credential`: a partner or a PMS. ' +
            '`operator`: a person who ran a command of the service. `anonymous`: a person whose sign-in failed.',
        ),
        id: uuidOrNull('The id of the user, display or credential. Null for `operator` and `anonymous`.'),
        name: textOrNull(
          'The present name of the user, or the e-mail address of a user without a name. For a display or a ' +
            'credential, the present label. Null for `operator` and `anonymous`.',
        ),
      },
      { description: 'The user, display, partner, PMS or operator that acted.' },
    ),
    action: text(
      `The kind of action: ${LISTED_ACTIONS.slice(0, -1).join(', ')} or ${LISTED_ACTIONS.at(-1)}. ` +
        '`tenant.applied` reports all other changes by a tenant document. New kinds may be added.',
    ),
    subject: text(
      'The id of the credential, channel, rate plan, room type, reservation, user or display that the action changed or ' +
        'concerned, the `sku` of a dish, or the number of the tenant.',
    ),
    subject_label: textOrNull(
      'The present name of the subject: the name or the e-mail address of a user, the label of a credential or a display, the ' +
        'source of a channel, the name of a room type, the names of the room type and the rate plan, the name of the guest, the ' +
        'name of a dish, or the name of the tenant. Null if the subject is unknown.',
    ),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Further facts about the action. The fields depend on the kind of action. They never contain a secret.',
    }),
  },
  {
    title: 'AuditEntry',
    description: 'One action, with its actor and time. Entries are only added. They are never changed or removed.',
    examples: [
      {
        id: '01a1f82f-2c5f-7b81-b37a-043a6f767e7c',
        at: '2026-11-20T09:00:03.551Z',
        actor: { type: 'credential', id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b', name: 'Front desk PMS' },
        action: 'rates.written',
        subject: '01a19b53-7418-7800-ad62-07fe609eac8f',
        subject_label: 'Double / Flexible',
        details: { entries: [{ date: '2030-05-02', price: '110.00' }] },
      },
      {
        id: '01a19ba3-06dd-7f02-a58b-1d20c3b7e964',
        at: '2026-11-02T09:41:55.037Z',
        actor: { type: 'user', id: '01a19b53-7418-74c1-8296-97ee358715d3', name: 'Maria Costa' },
        action: 'credential.created',
        subject: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
        subject_label: 'Front desk PMS',
        details: { audience: 'pms', label: 'Front desk PMS' },
      },
    ],
  },
);
export type AuditEntry = Type.Static<typeof AuditEntry>;

/** `id` is null for an operator and for a failed sign-in. */
export interface Actor {
  tenantId: number;
  type: (typeof ACTOR_TYPES)[number];
  id: string | null;
}
