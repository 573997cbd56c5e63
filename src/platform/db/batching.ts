import type { Database } from './database.ts';
import { UnavailableError } from '../errors.ts';
import { type Account, chargeService, chargeTo, currentAccount } from '../lib/account.ts';
import { FairQueues } from '../lib/fair-queues.ts';
import { isUnavailable } from './failures.ts';
import { isCluster } from './layout.ts';

const MAX_BATCH_SIZE = 64;

/** Work that handles the inputs of many calls together, and the largest number of batches of this work that run at the same time. */
export interface BatchedWork<Input, Output> {
  /** Returns the outputs in the order of the inputs, or throws an error that fails the whole batch. */
  many: (inputs: Input[]) => Promise<Output[]>;
  /**
   * Largest number of batches that run at the same time. On a cluster, the number is the limit for each tenant. If this number of batches
   * is running, new calls wait until a batch ends. The waiting calls then form the next batch.
   */
  maxUnderWay: number;
  /** Returns the id of the tenant of an input. */
  tenantIdOf: (input: Input) => number;
}

interface Waiting<Input, Output> {
  input: Input;
  /**
   * Tenant and caller of the call. The calls of each tenant wait in a queue of their own. If the batch fails, the input is run again by
   * itself, and uses this tenant's share of the database connections.
   */
  account: Account;
  resolve: (output: Output | PromiseLike<Output>) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that gathers calls that arrive together into batches. The calls of a batch share the cost of one statement and one
 * commit, but each caller gets its own output or error. A call never joins a batch that has begun, so it sees all data that was written
 * before the call. If a batch fails, each of its inputs is run again by itself, because the fault may be in only one input.
 *
 * On one node, a batch may have calls of several tenants. On a cluster, each tenant has batches of its own, because a statement goes to the
 * node of one tenant. So a node that is down or slow delays only the calls of its own tenants.
 */
export function batching<Input, Output>(
  db: Database,
  work: BatchedWork<Input, Output>,
): (input: Input) => Promise<Output> {
  if (!isCluster(db)) {
    const batches = new Batches(work);
    return (input) => batches.add(input);
  }
  const batchesOf = new Map<number, Batches<Input, Output>>();
  return (input) => {
    const tenantId = work.tenantIdOf(input);
    const batches = batchesOf.get(tenantId) ?? new Batches(work, () => batchesOf.delete(tenantId));
    batchesOf.set(tenantId, batches);
    return batches.add(input);
  };
}

/** Batches of the calls of one tenant on a cluster, or of all tenants on one node. */
class Batches<Input, Output> {
  readonly #work: BatchedWork<Input, Output>;
  /**
   * Called when no call waits and no batch runs. On a cluster, each tenant has an object of this class, and the function discards the
   * object. Null on one node, where one object serves all tenants and is never discarded.
   */
  readonly #onIdle: (() => void) | null;
  readonly #waiting = new FairQueues<Waiting<Input, Output>>();
  #underWay = 0;
  #isPlanned = false;

  constructor(work: BatchedWork<Input, Output>, onIdle: (() => void) | null = null) {
    this.#work = work;
    this.#onIdle = onIdle;
  }

  add(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      const account = currentAccount();
      this.#waiting.push(account.tenant, { input, account, resolve, reject });
      if (!this.#isPlanned && this.#underWay < this.#work.maxUnderWay) {
        this.#isPlanned = true;
        setImmediate(() => this.#start()); // The start is delayed, so that other calls of this iteration of the event loop join the batch.
      }
    });
  }

  #start(): void {
    this.#isPlanned = false;
    while (this.#waiting.size > 0 && this.#underWay < this.#work.maxUnderWay) {
      this.#underWay += 1;
      void this.#run(this.#take(MAX_BATCH_SIZE)).finally(() => {
        this.#underWay -= 1;
        this.#start();
        if (this.#underWay === 0) {
          this.#onIdle?.();
        }
      });
    }
  }

  /**
   * Removes at most `count` calls from the queue and returns them. If calls of several tenants wait, takes one call of each tenant in turn.
   */
  #take(count: number): Waiting<Input, Output>[] {
    return Array.from({ length: Math.min(count, this.#waiting.size) }, () => this.#waiting.shift()?.item).filter(
      (each) => each !== undefined,
    );
  }

  async #run(batch: Waiting<Input, Output>[]): Promise<void> {
    const { many } = this.#work;
    try {
      const outputs = await this.#charge(batch, () => many(batch.map(({ input }) => input)));
      batch.forEach(({ resolve }, index) => resolve(outputs[index] as Output));
    } catch (error) {
      if (error instanceof UnavailableError || isUnavailable(error)) {
        // The database is unavailable, so the calls that wait in the queue fail too. Otherwise they would wait for the next batch, which
        // would probably fail as well.
        [...batch, ...this.#take(this.#waiting.size)].forEach(({ reject }) => reject(error));
      } else if (batch.length === 1) {
        batch.forEach(({ reject }) => reject(error));
      } else {
        batch.forEach(({ input, account, resolve }) => resolve(chargeTo(account, () => this.#runAlone(input))));
      }
    }
  }

  /**
   * Runs a batch, and charges it to an account. Each tenant has a share of the database connections, and the account decides which share
   * the batch uses.
   * - On a cluster, all calls of a batch are from one tenant. The batch is charged to the account of its first call.
   * - On one node, the calls may be from several tenants. The batch is charged to the account of the service. If it were charged to one
   *   tenant that already uses its whole share, the batch would wait. The calls of the other tenants in the batch would then wait too.
   */
  #charge<T>(batch: Waiting<Input, Output>[], run: () => T): T {
    const [first] = batch;
    return this.#onIdle === null || first === undefined ? chargeService(run) : chargeTo(first.account, run);
  }

  async #runAlone(input: Input): Promise<Output> {
    const [output] = await this.#work.many([input]);
    return output as Output;
  }
}
