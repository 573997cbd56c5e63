import Type from 'typebox';

const ACTOR_TYPES = ['user', 'credential', 'operator', 'anonymous'] as const;

/** What is audited (promises, Security). */
export type AuditAction =
  | 'credential.created'
  | 'credential.revoked'
  | 'credential.rotated'
  | 'channel.created'
  | 'channel.revoked'
  | 'webhook.registered'
  | 'rates.written'
  | 'restrictions.written'
  | 'sign_in.failed';

export const AuditEntry = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: Type.String({ format: 'date-time' }),
  actor: Type.Object({
    type: Type.Enum([...ACTOR_TYPES], { type: 'string' }),
    id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
  }),
  action: Type.String(),
  subject: Type.String({ description: 'the id of what was acted on' }),
  details: Type.Record(Type.String(), Type.Unknown()),
});
export type AuditEntry = Type.Static<typeof AuditEntry>;

/** Who acts, and for which tenant: the operator is whoever runs the command line. */
export interface Actor {
  tenantId: number;
  type: (typeof ACTOR_TYPES)[number];
  id: string | null;
}
