import Type from 'typebox';

const ACTOR_TYPES = ['user', 'credential', 'operator', 'anonymous'] as const;

/** Kind of change that an audit entry reports. */
export type AuditAction =
  | 'credential.created'
  | 'credential.revoked'
  | 'credential.rotated'
  | 'channel.created'
  | 'channel.revoked'
  | 'opening_hours.changed'
  | 'pause.started'
  | 'pause.ended'
  | 'webhook.registered'
  | 'rates.written'
  | 'restrictions.written'
  | 'sign_in.failed'
  | 'user.created'
  | 'user.changed'
  | 'user.disabled'
  | 'user.enabled'
  | 'user.password_changed'
  | 'tenant.applied';

export const AuditEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the entry.' }),
    at: Type.String({ format: 'date-time', description: 'The time of the action.' }),
    actor: Type.Object(
      {
        type: Type.Enum([...ACTOR_TYPES], {
          type: 'string',
          description:
            '`user`: a user who signed in. `credential`: a partner or a PMS. `operator`: a person who ran a command of ' +
            'the service. `anonymous`: a person whose sign-in failed.',
        }),
        id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
          description: 'The id of the user or credential. Null for `operator` and `anonymous`.',
        }),
      },
      { description: 'The user, partner, PMS or operator that acted.' },
    ),
    action: Type.String({
      description:
        'The kind of action: `credential.created`, `credential.revoked`, `credential.rotated`, `channel.created`, ' +
        '`channel.revoked`, `opening_hours.changed`, `pause.started`, `pause.ended`, `webhook.registered`, ' +
        '`rates.written`, `restrictions.written`, `sign_in.failed`, `user.created`, `user.changed`, `user.disabled`, ' +
        '`user.enabled`, `user.password_changed` or `tenant.applied`. The last one reports all other changes by a tenant document. New kinds may be added.',
    }),
    subject: Type.String({
      description:
        'The id of the credential, channel, rate plan or user that the action changed or concerned, or the number of the tenant.',
    }),
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
        actor: { type: 'credential', id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b' },
        action: 'rates.written',
        subject: '01a19b53-7418-7800-ad62-07fe609eac8f',
        details: { entries: [{ date: '2030-05-02', price: '110.00' }] },
      },
      {
        id: '01a19ba3-06dd-7f02-a58b-1d20c3b7e964',
        at: '2026-11-02T09:41:55.037Z',
        actor: { type: 'user', id: '01a19b53-7418-74c1-8296-97ee358715d3' },
        action: 'credential.created',
        subject: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
        details: { audience: 'pms', label: 'Front desk PMS' },
      },
    ],
  },
);
export type AuditEntry = Type.Static<typeof AuditEntry>;

/**
 * User, credential or operator that performs an action, and the tenant in which the action takes place. `id` is null for an operator and
 * for a failed sign-in.
 */
export interface Actor {
  tenantId: number;
  type: (typeof ACTOR_TYPES)[number];
  id: string | null;
}
