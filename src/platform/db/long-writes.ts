import { UnavailableError } from '../errors.ts';
import { FairGate } from '../lib/fair-gate.ts';

/** Largest number of nights that a call writes without waiting for other calls. Most stays and most changes of prices are shorter. */
const SHORT_WRITE_NIGHTS = 100;
/** Maximum time in milliseconds that a long write waits for its turn. */
const LONG_WRITE_WAIT_MS = 30_000;

/**
 * Gate for calls that write many nights, for example the prices of 1,000 nights. If one tenant sent many of them at the same time, they
 * would take the cores of the database from the calls of other tenants (docs/budget-faults.md). So each tenant has one long write at a time in
 * this process, with a rest after it. The number of tenants that write at the same time is limited only by the database
 * connections.
 */
export class LongWrites {
  readonly #gate = new FairGate({
    limit: Number.POSITIVE_INFINITY,
    limitOf: () => 1,
    maxWaitMs: LONG_WRITE_WAIT_MS,
    waitedTooLong: () => new UnavailableError('Too many calls wait to write many nights. Try again.'),
    rests: true,
  });

  /**
   * Runs a write of the given number of nights. A long write waits for its turn first.
   * @throws UnavailableError if the write has waited for 30 s
   */
  async run<Result>(tenantId: number, nights: number, write: () => Promise<Result>): Promise<Result> {
    return nights > SHORT_WRITE_NIGHTS ? await this.#gate.run(String(tenantId), write) : await write();
  }
}
