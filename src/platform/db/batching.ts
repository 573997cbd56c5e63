import type { Database } from './database.ts';
import { UnavailableError } from '../errors.ts';
import { type Account, chargeService, chargeTo, currentAccount } from '../lib/account.ts';
import { FairQueues } from '../lib/fair-queues.ts';
import { isUnavailable } from './failures.ts';
import { isCluster } from './layout.ts';

const MAX_BATCH_SIZE = 64;

/** A task that handles the inputs of many calls with one use of the database, and how many of these uses run at the same time. */
export interface BatchedWork<Input, Output> {
  /** Returns the outputs in the order of the inputs, or throws an error that fails the whole batch. */
  many: (inputs: Input[]) => Promise<Output[]>;
  /** Largest number of batches that run at the same time. When this number is reached, new calls wait, and then form the next batch. */
  maxUnderWay: number;
}

interface Waiting<Input, Output> {
  input: Input;
  /**
   * Account of the caller. Its tenant decides in which queue the call waits. If the batch fails, the input is run again by itself under
   * this account.
   */
  account: Account;
  resolve: (output: Output | PromiseLike<Output>) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that gathers calls that arrive together into batches. The calls of a batch share the cost of one statement and one
 * commit, but each caller gets its own output or error. A call never joins a batch that has begun, so it sees all data that was written
 * before the call. If a batch fails, each of its inputs is run again by itself, because the fault may be in only one input. On a cluster
 * there are no batches, and each call runs immediately by itself.
 */
export function batching<Input, Output>(
  db: Database,
  { many, maxUnderWay }: BatchedWork<Input, Output>,
): (input: Input) => Promise<Output> {
  const one = async (input: Input) => (await many([input]))[0] as Output;
  if (isCluster(db)) {
    return one;
  }
  const waiting = new FairQueues<Waiting<Input, Output>>();
  let underWay = 0;
  let isPlanned = false;

  /** Takes the next inputs from the queue. If inputs of several tenants wait, the tenants take turns. */
  const take = (count: number) =>
    Array.from({ length: Math.min(count, waiting.size) }, () => waiting.shift()?.item).filter(
      (each) => each !== undefined,
    );

  async function run(batch: Waiting<Input, Output>[]): Promise<void> {
    try {
      // A batch runs under the account of the service, even if it has only one input. Under the account of a tenant, the batch would wait
      // if that tenant holds all connections that it may hold. Later calls of other tenants would then wait for the batch.
      const outputs = await chargeService(() => many(batch.map(({ input }) => input)));
      batch.forEach(({ resolve }, index) => resolve(outputs[index] as Output));
    } catch (error) {
      if (error instanceof UnavailableError || isUnavailable(error)) {
        // The database is unavailable, so the inputs that wait in the queue fail too. Otherwise their callers would wait for another
        // attempt, which would probably fail as well.
        [...batch, ...take(waiting.size)].forEach(({ reject }) => reject(error));
      } else if (batch.length === 1) {
        batch.forEach(({ reject }) => reject(error));
      } else {
        batch.forEach(({ input, account, resolve }) => resolve(chargeTo(account, () => one(input))));
      }
    }
  }

  function start(): void {
    isPlanned = false;
    while (waiting.size > 0 && underWay < maxUnderWay) {
      const batch = take(MAX_BATCH_SIZE);
      underWay += 1;
      void run(batch).finally(() => {
        underWay -= 1;
        start();
      });
    }
  }

  return (input) =>
    new Promise((resolve, reject) => {
      const account = currentAccount();
      waiting.push(account.tenant, { input, account, resolve, reject });
      if (!isPlanned && underWay < maxUnderWay) {
        isPlanned = true;
        setImmediate(start); // The start is delayed, so that other calls of this iteration of the event loop join the batch.
      }
    });
}
