import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { newId } from '#platform/lib/ids.ts';
import type { DeliveryStatus } from '../events/events.ts';
import type { Attempted } from './attempt.ts';

/** Contract §6, delivery rule 3. */
export const MAX_ATTEMPTS = 5;

/** First part of the lease in which the attempt must begin. If the process was suspended for longer, it does not begin the attempt. */
const BEGIN_WITHIN = 1 / 3;

/** Permission of one process to make one attempt. During the lease, no other process sends the event. */
export interface Lease {
  id: string;
  seconds: number;
  /** Latest begin of the attempt (`performance.now()`). An attempt that began later could still run when the lease ends. */
  beginBeforeMs: number;
}

export function createLease(seconds: number): Lease {
  return { id: newId(), seconds, beginBeforeMs: performance.now() + seconds * 1000 * BEGIN_WITHIN };
}

export function hasEnded({ beginBeforeMs, seconds }: Lease): boolean {
  return performance.now() > beginBeforeMs + seconds * 1000 * (1 - BEGIN_WITHIN);
}

/** Delivery for which this process holds a lease. */
export interface ClaimedDelivery {
  tenantId: number;
  eventId: string;
  credentialId: string;
  body: string;
  webhookUrl: string;
  /** Encrypted. */
  webhookSecret: Buffer;
  /** Time of the change that the event reports. */
  createdAtMs: number;
  /** Time of the claim by the clock of the database, because the clock of a process may be wrong. */
  claimedAtMs: number;
  attempt: number;
  lease: Lease;
  /** Seconds from the time at which the delivery became due until its claim. */
  waitedSeconds: number;
}

/** What follows from a claimed delivery, until it is recorded. */
export interface Outcome {
  delivery: ClaimedDelivery;
  /** Null: the delivery was not sent. Its attempt does not count, and the time of its next attempt stays the same. */
  sent: Attempted | null;
  status: DeliveryStatus;
  retryInMs: number;
}

/** Says what follows from an attempt. If it was aborted, because this process stops, the next one is due immediately (rule 33). */
export function outcomeOf(
  delivery: ClaimedDelivery,
  sent: Attempted | null,
  drawWaitMs: (attempt: number) => number,
): Outcome {
  if (sent?.error === null) {
    return { delivery, sent, status: 'delivered', retryInMs: 0 };
  }
  if (sent !== null && delivery.attempt >= MAX_ATTEMPTS) {
    return { delivery, sent, status: 'failed', retryInMs: 0 };
  }
  const isDueNow = sent === null || sent.error === 'aborted';
  return { delivery, sent, status: 'pending', retryInMs: isDueNow ? 0 : drawWaitMs(delivery.attempt) };
}

/** The response of a receiver may contain secrets, so the log leaves it out. */
export function logAttempt(
  log: Logger,
  { delivery, sent, status }: Outcome,
  is_recorded: boolean,
  failure: unknown,
): void {
  if (sent !== null) {
    const { answer: _, cause, ...attempted } = sent;
    const err = failure ?? cause;
    const level = err === undefined ? 'info' : 'error';
    log[level]({ ...idsOf(delivery), ...attempted, status, is_recorded, err }, 'webhook attempt');
  }
}

export function idsOf({ tenantId, eventId, attempt }: ClaimedDelivery) {
  return { tenant_id: tenantId, event_id: eventId, attempt };
}

/** Returns the wait after the failed attempt with this number (rule 33). All of it is random, so that retries do not arrive together. */
export function drawRetryWaitMs(attempt: number): number {
  return randomInt(2_000 * 2 ** (attempt - 1) + 1);
}
