import { newId } from '#platform/lib/ids.ts';

/**
 * Length of the lease of a claimed delivery. It is longer than the time limit of an attempt (10 s), so that no lease ends while its attempt
 * runs.
 */
const LEASE_SECONDS = 15;
/**
 * First part of the lease (a third), in which the attempt must begin. If the process was suspended for a longer time, it does not begin the
 * attempt.
 */
const BEGIN_WITHIN = 1 / 3;
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

/** Makes a lease that begins now. */
export function createLease(seconds = LEASE_SECONDS): Lease {
  return { id: newId(), seconds, beginBeforeMs: performance.now() + seconds * 1000 * BEGIN_WITHIN };
}

/** Returns true if the lease has ended by the clock of this process. */
export function hasEnded({ beginBeforeMs, seconds }: Lease): boolean {
  return performance.now() > beginBeforeMs + seconds * 1000 * (1 - BEGIN_WITHIN);
}
