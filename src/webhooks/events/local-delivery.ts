/** Right to make one attempt. Only the process that holds the lease sends the event, once, and records the outcome. */
export interface Lease {
  id: string;
  /** Seconds until another process may claim the delivery. */
  seconds: number;
  /** Moment of this process's clock (`performance.now()`) before which the attempt must begin. Later it must not begin at all. */
  beginBeforeMs: number;
}

/** Webhook URL to which an event is sent, and the encrypted secret that signs it, as registered at the time of the query. */
export interface Target {
  webhookUrl: string;
  webhookSecret: Buffer;
}

/** Delivery for which this process holds a lease. */
export interface ClaimedDelivery extends Target {
  tenantId: number;
  eventId: string;
  credentialId: string;
  body: string;
  createdAt: Date;
  /** Number of this attempt, from 1. */
  attempt: number;
  lease: Lease;
  /** Seconds for which the delivery was due before it was claimed. */
  waitedSeconds: number;
}

/** Credential that has due deliveries. */
export interface DueQueue {
  tenantId: number;
  credentialId: string;
  webhookUrl: string;
  /** False if the credential is revoked. Its deliveries are then stopped and not sent. */
  isActive: boolean;
}

/** Functions of this process's delivery worker that the code that writes events uses. */
export interface LocalDelivery {
  /**
   * Returns a lease for an event that this process will send itself. Returns null if the receiver has no free slot, or if the tenant holds
   * half of all slots while other tenants wait.
   * @param ahead number of events that the same transaction has already written for the same credential
   */
  offerLease(credential: { tenantId: number; credentialId: string }, ahead: number): Lease | null;
  /** Sends an event that was written with an offered lease. Call it after the commit. */
  begin(delivery: ClaimedDelivery): void;
  /** Tells the worker that a credential has a due delivery, so that the worker claims it immediately and not after the next scan. */
  wake(queue: DueQueue): void;
}
