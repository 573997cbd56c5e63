import Type from 'typebox';

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** What a credential's deliveries have come to, for its owner. */
export const CredentialDeliveries = Type.Object(
  {
    pending: Type.Integer({ description: 'How many wait for their next attempt.' }),
    failed: Type.Integer({ description: 'How many ended failed, of those that are still kept.' }),
    last_failed_at: nullableTime('The last attempt of the newest delivery that failed; null: none did.'),
    oldest_pending_at: nullableTime('When the event of the oldest waiting delivery happened; null: none waits.'),
  },
  { title: 'CredentialDeliveries', description: "What the partner's deliveries have come to." },
);
export type CredentialDeliveries = Type.Static<typeof CredentialDeliveries>;
