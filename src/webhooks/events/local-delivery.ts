/** Permission of one process to make one attempt to deliver an event. During the lease, no other process sends the event. */
export interface Lease {
  id: string;
  /** Duration of the lease in seconds. After this time, another process may claim the delivery. */
  seconds: number;
  /**
   * Latest time at which the attempt may begin, on the clock of this process (`performance.now()`). An attempt that began later could still
   * run when the lease ends.
   */
  beginBeforeMs: number;
}

/**
 * Webhook URL to which an event is sent, and the encrypted secret that signs the event. The service read both from the credential when it
 * wrote the event or claimed the delivery.
 */
export interface Target {
  webhookUrl: string;
  webhookSecret: Buffer;
  /**
   * Time at which the event was written or its delivery was claimed, in milliseconds of Unix time. It is the time of the database, because
   * the clock of a process may be wrong.
   */
  claimedAtMs: number;
}

/** Delivery for which this process holds a lease. */
export interface ClaimedDelivery extends Target {
  tenantId: number;
  eventId: string;
  credentialId: string;
  body: string;
  /** Time of the change that the event reports, in milliseconds of Unix time. */
  createdAtMs: number;
  /** Number of this attempt, from 1. */
  attempt: number;
  lease: Lease;
  /** Seconds from the time at which the delivery became due until its claim. */
  waitedSeconds: number;
}

/** Credential that has due deliveries. */
export interface DueQueue {
  tenantId: number;
  credentialId: string;
  webhookUrl: string;
  /** False if the credential is revoked or has no webhook URL. Its deliveries are then stopped and not sent. */
  isActive: boolean;
}

/** Interface through which the code that writes events uses the delivery worker of its own process. */
export interface LocalDelivery {
  /**
   * Returns a lease for the delivery of a new event, if this process can send the delivery itself. The caller then writes the event with
   * this lease. Each delivery under way takes one of the sending slots of the process, and each receiver has a share of these slots.
   * Returns null in each of these cases:
   * - No slot is free for a delivery to the receiver of this credential.
   * - The tenant has half of all slots while other tenants wait.
   * - The worker is stopping.
   * - Too many outcomes wait to be recorded.
   * @param ahead number of other events for this credential that the caller's transaction has already written. The deliveries of these
   * events will also need slots
   */
  offerLease(credential: { tenantId: number; credentialId: string }, ahead: number): Lease | null;
  /**
   * Sends the delivery of an event. The event must have been written with a lease from `offerLease`, which reserves the delivery for this
   * process. Call this function only after the transaction of the event is committed.
   */
  begin(delivery: ClaimedDelivery): void;
  /**
   * Tells the worker that a credential has a due delivery. The worker then claims the delivery as soon as a slot is free, and does not wait
   * for its next search.
   */
  wake(queue: DueQueue): void;
}
