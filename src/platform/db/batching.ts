import type { Database } from './database.ts';
import { UnavailableError } from '../errors.ts';
import { type Account, chargeService, chargeTo, currentAccount } from '../lib/account.ts';
import { FairLines } from '../lib/fair-lines.ts';
import { isUnavailable } from './failures.ts';
import { isCluster } from './layout.ts';

const MAX_BATCH_SIZE = 64;

/** Database work of any number of inputs. */
export interface BatchedWork<Input, Output> {
  /** Answers in the order of its inputs, or fails as a whole. */
  many: (inputs: Input[]) => Promise<Output[]>;
  /** How many batches run at once. Calls that come while as many run wait, and then go together. */
  maxUnderWay: number;
}

interface Waiting<Input, Output> {
  input: Input;
  /** Who asks, by tenant; an input whose batch has failed is done by itself at this account's expense. */
  account: Account;
  resolve: (output: Output | PromiseLike<Output>) => void;
  reject: (error: unknown) => void;
}

/**
 * Calls that arrive together go as one batch, each caller with an outcome of its own: that divides the cost of a statement and of a
 * commit by their number. A call never joins a batch that has begun, so it sees what was written before it was made. A batch that fails
 * is done again one by one, for the fault may be in one of its inputs. On a cluster each call goes by itself.
 */
export function batching<Input, Output>(
  db: Database,
  { many, maxUnderWay }: BatchedWork<Input, Output>,
): (input: Input) => Promise<Output> {
  const one = async (input: Input) => (await many([input]))[0] as Output;
  if (isCluster(db)) {
    return one;
  }
  const waiting = new FairLines<Waiting<Input, Output>>();
  let underWay = 0;
  let isPlanned = false;

  /** The next ones; of several tenants each gets as many as the others. */
  const take = (count: number) =>
    Array.from({ length: Math.min(count, waiting.size) }, () => waiting.shift()?.item).filter(
      (each) => each !== undefined,
    );

  async function run(batch: Waiting<Input, Output>[]): Promise<void> {
    try {
      // Also a single one: at its tenant's expense it would wait for that tenant's connections, and all who come after it with it.
      const outputs = await chargeService(() => many(batch.map(({ input }) => input)));
      batch.forEach(({ resolve }, index) => resolve(outputs[index] as Output));
    } catch (error) {
      if (error instanceof UnavailableError || isUnavailable(error)) {
        // It is asked once for all of them, and for those who have waited meanwhile: none waits longer than one attempt takes.
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
        setImmediate(start); // What else has come in this turn of the event loop goes along.
      }
    });
}
