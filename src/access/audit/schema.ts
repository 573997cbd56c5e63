import Type from 'typebox';

const ACTOR_TYPES = ['user', 'credential', 'operator', 'anonymous'] as const;

/** What is audited. */
export type AuditAction =
  | 'credential.created'
  | 'credential.revoked'
  | 'credential.rotated'
  | 'channel.created'
  | 'channel.revoked'
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
    at: Type.String({ format: 'date-time', description: 'When it was done.' }),
    actor: Type.Object(
      {
        type: Type.Enum([...ACTOR_TYPES], {
          type: 'string',
          description:
            'A `user` who signed in, a `credential` of a partner or PMS, the `operator` at the command line, or ' +
            '`anonymous`: somebody whose sign-in failed.',
        }),
        id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
          description: 'The id of the user or credential; null for the other two.',
        }),
      },
      { description: 'Who did it.' },
    ),
    action: Type.String({
      description:
        'What was done: `credential.created`, `credential.revoked`, `credential.rotated`, `channel.created`, ' +
        '`channel.revoked`, `webhook.registered`, `rates.written`, `restrictions.written`, `sign_in.failed`, ' +
        '`user.created`, `user.changed`, `user.disabled`, `user.enabled`, `user.password_changed` or ' +
        '`tenant.applied`: what else a tenant document changed. More may be added.',
    }),
    subject: Type.String({
      description:
        'The id of what it was done to: a credential, channel, rate plan or user, or the number of the tenant.',
    }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What else there is to know; its fields depend on the action. Never a secret.',
    }),
  },
  {
    title: 'AuditEntry',
    description: 'One thing that was done, by whom and when. Entries are only ever added.',
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

/** Who acts, and for which tenant: the operator is whoever runs the command line. */
export interface Actor {
  tenantId: number;
  type: (typeof ACTOR_TYPES)[number];
  id: string | null;
}
