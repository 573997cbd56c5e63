/** The right to one attempt. Only the process that holds the lease sends the event, once, and records the outcome. */
export interface Lease {
  id: string;
  /** Until others may take the delivery. */
  seconds: number;
  /** The attempt begins before this moment of the process's own clock (`performance.now()`), or not at all. */
  beginBeforeMs: number;
}

/** Where an event goes, and with which secret, at the moment it is asked. */
export interface Target {
  webhookUrl: string;
  webhookSecret: Buffer;
}

/** A delivery this process holds for now. */
export interface ClaimedDelivery extends Target {
  tenantId: number;
  eventId: string;
  credentialId: string;
  body: string;
  createdAt: Date;
  attempt: number;
  lease: Lease;
  /** How long it was due before it was claimed. */
  waitedSeconds: number;
}

/** A credential's deliveries that are due. */
export interface DueQueue {
  tenantId: number;
  credentialId: string;
  webhookUrl: string;
  /** Revoked credentials' deliveries are stopped rather than sent. */
  isActive: boolean;
}

/** What the recording of events needs of this process's deliveries. */
export interface LocalDelivery {
  /**
   * A lease to write an event with that this process is going to send itself; null where its receiver has no slot free now, or its
   * tenant has half of all while others wait.
   * @param ahead of it in the same transaction, to the same receiver
   */
  offerLease(whose: { tenantId: number; credentialId: string }, ahead: number): Lease | null;
  /** Sends an event that was written under an offered lease, now that it is committed. */
  begin(delivery: ClaimedDelivery): void;
  /** A credential has a delivery that is due: it is claimed now rather than found by the next scan. */
  wake(queue: DueQueue): void;
}
