import { UnavailableError } from '../errors.ts';
import { type Database, isCluster } from './database.ts';
import { isUnavailable } from './failures.ts';

const MAX_BATCH_SIZE = 64;
/** Batches that run at the same time. While one is flushed to disk, the database can work on the other. */
const MAX_UNDER_WAY = 2;

type Many<Input, Output> = (inputs: Input[]) => Promise<Output[]>;

type Waiting<Input, Output> = PromiseWithResolvers<Output> & { input: Input };

/**
 * Returns a function that gathers calls that arrive together into batches of one statement and one commit. A call never joins a batch that
 * has begun, so it sees all data that was written before the call. If a batch fails, each of its inputs runs again by itself. On a cluster,
 * each tenant has batches of its own, so a slow node delays only its own tenants.
 */
export function batching<Input, Output>(
  db: Database,
  many: Many<Input, Output>,
  tenantIdOf: (input: Input) => number,
): (input: Input) => Promise<Output> {
  const batchesOf = new Map<number | null, Batches<Input, Output>>();
  return (input) => {
    const key = isCluster(db) ? tenantIdOf(input) : null;
    const batches = batchesOf.get(key) ?? new Batches(many, () => batchesOf.delete(key));
    batchesOf.set(key, batches);
    return batches.add(input);
  };
}

class Batches<Input, Output> {
  readonly #many: Many<Input, Output>;
  readonly #onIdle: () => void;
  #waiting: Waiting<Input, Output>[] = [];
  #underWay = 0;

  constructor(many: Many<Input, Output>, onIdle: () => void) {
    this.#many = many;
    this.#onIdle = onIdle;
  }

  add(input: Input): Promise<Output> {
    const waiting = { input, ...Promise.withResolvers<Output>() };
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) {
      setImmediate(() => this.#start()); // The start is delayed, so that other calls of this iteration of the event loop join the batch.
    }
    return waiting.promise;
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#underWay < MAX_UNDER_WAY) {
      this.#underWay += 1;
      void this.#run(this.#waiting.splice(0, MAX_BATCH_SIZE));
    }
  }

  async #run(batch: Waiting<Input, Output>[]): Promise<void> {
    try {
      const outputs = await this.#many(batch.map(({ input }) => input));
      batch.forEach(({ resolve }, index) => resolve(outputs[index] as Output));
    } catch (error) {
      if (error instanceof UnavailableError || isUnavailable(error)) {
        // The calls that wait fail too. Otherwise they would wait for the next batch, which would probably fail as well.
        [...batch, ...this.#waiting.splice(0)].forEach(({ reject }) => reject(error));
      } else if (batch.length === 1) {
        batch.forEach(({ reject }) => reject(error));
      } else {
        batch.forEach(({ input, resolve }) => resolve(this.#many([input]).then(([output]) => output as Output)));
      }
    }
    this.#underWay -= 1;
    this.#start();
    if (this.#underWay === 0) {
      this.#onIdle();
    }
  }
}
