import Type from 'typebox';

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** Counts and times of the pending and failed deliveries of one credential, for the owner of the tenant. */
export const CredentialDeliveries = Type.Object(
  {
    pending: Type.Integer({ description: 'Number of deliveries that wait for their next attempt.' }),
    failed: Type.Integer({ description: 'Number of failed deliveries that are still kept.' }),
    last_failed_at: nullableTime(
      'Time of the last attempt of the newest failed delivery. Null if no delivery has failed.',
    ),
    oldest_pending_at: nullableTime('Time of the event of the oldest waiting delivery. Null if no delivery waits.'),
  },
  { title: 'CredentialDeliveries', description: 'The state of the deliveries to the partner.' },
);
export type CredentialDeliveries = Type.Static<typeof CredentialDeliveries>;
