import { UnavailableError } from '../errors.ts';
import { FairGate } from '../lib/fair-gate.ts';

/**
 * Largest number of nights that a call writes immediately. A call with more nights may have to wait for other calls of the tenant. Most
 * stays and most changes of prices are shorter.
 */
const SHORT_WRITE_NIGHTS = 100;
/** Maximum time in milliseconds that a long write waits until it may start. */
const LONG_WRITE_WAIT_MS = 30_000;

/**
 * Limits the long writes, which are calls that write many nights, for example the prices of 1,000 nights. Without a limit, many long writes
 * of one tenant could use all cores of the database, and the calls of other tenants would wait (docs/budget-faults.md). In this process,
 * each tenant has one long write at a time. When a long write ends, the next long write of the tenant must wait for as long as the ended
 * write took. For example, if a write took 2 s, the next one may start 2 s after the write has ended. Only the number of database
 * connections limits how many tenants have a long write at the same time.
 */
export class LongWrites {
  readonly #gate = new FairGate({
    limit: Number.POSITIVE_INFINITY,
    limitOf: () => 1,
    maxWaitMs: LONG_WRITE_WAIT_MS,
    waitedTooLong: () =>
      new UnavailableError('A write of many nights waited too long for other writes of the tenant. Try again.'),
    rests: true,
  });

  /**
   * Runs a write of the given number of nights. A long write first waits until it may start.
   * @throws UnavailableError if the write has waited for 30 s and could not start
   */
  async run<Result>(tenantId: number, nights: number, write: () => Promise<Result>): Promise<Result> {
    return nights > SHORT_WRITE_NIGHTS ? await this.#gate.run(String(tenantId), write) : await write();
  }
}
