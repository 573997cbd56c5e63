import { sql } from 'kysely';
import type { Database } from './database.ts';
import { UnavailableError } from '../errors.ts';
import { type Account, chargeService, chargeTo, currentAccount } from '../lib/account.ts';
import { FairLines } from '../lib/fair-lines.ts';
import { isUnavailable } from './failures.ts';

const MAX_BATCH_SIZE = 64;

/** How many inputs one statement may take: on a cluster one, for its tenants live on different nodes (architecture, database rule 8). */
export async function batchSizeOf(db: Database): Promise<number> {
  const { rows } = await sql`SELECT FROM pg_extension WHERE extname = 'citus'`.execute(db);
  return rows.length > 0 ? 1 : MAX_BATCH_SIZE;
}

/** One piece of database work in two forms, which do the same. */
export interface BatchedWork<Input, Output> {
  one: (input: Input) => Promise<Output>;
  /** Answers in the order of its inputs, with a promise where one of them is still to be done by itself; it fails as a whole. */
  many: (inputs: Input[]) => Promise<(Output | Promise<Output>)[]>;
  /** From so many inputs on they go together; 2. With 1, a single one goes as `many` as well. */
  minSize?: 1 | 2;
  /** Inputs of one statement at most. */
  maxSize: number;
  /** Statements under way at once: while so many are, further calls wait, and then go together. */
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
 * Calls that arrive together go as one statement, each caller with an outcome of its own: that divides the cost of a statement and
 * of a commit by their number. A call never joins a statement that has begun, so it sees what was written before it was made. A
 * batch that fails is done again one by one, for the fault may be in one of its inputs.
 */
export function batching<Input, Output>(work: BatchedWork<Input, Output>): (input: Input) => Promise<Output> {
  const { one, many, minSize = 2, maxSize, maxUnderWay } = work;
  if (maxSize === 1) {
    return one; // Nothing is gained by a turn.
  }
  const waiting = new FairLines<Waiting<Input, Output>>();
  let underWay = 0;
  let isPlanned = false;

  /** The next ones; of several tenants each gets as many as the others. */
  const take = (count: number) =>
    Array.from({ length: Math.min(count, waiting.size) }, () => waiting.shift()?.item).filter(
      (each) => each !== undefined,
    );
  const alone = ({ input, account }: Waiting<Input, Output>) => chargeTo(account, () => one(input));

  async function run(batch: Waiting<Input, Output>[]): Promise<void> {
    const inputs = batch.map(({ input }) => input);
    try {
      // Also a single one: at its tenant's expense it would wait for that tenant's connections, and all who come after it with it.
      const outputs = await chargeService(() => (batch.length < minSize ? Promise.all(inputs.map(one)) : many(inputs)));
      batch.forEach(({ resolve }, index) => resolve(outputs[index] as Output | Promise<Output>));
    } catch (error) {
      if (error instanceof UnavailableError || isUnavailable(error)) {
        // It is asked once for all of them, and for those who have waited meanwhile: none waits longer than one attempt takes.
        [...batch, ...take(waiting.size)].forEach(({ reject }) => reject(error));
      } else if (batch.length === 1) {
        batch.forEach(({ reject }) => reject(error));
      } else {
        batch.forEach((each) => each.resolve(alone(each)));
      }
    }
  }

  function start(): void {
    isPlanned = false;
    while (waiting.size > 0 && underWay < maxUnderWay) {
      const batch = take(maxSize);
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
