import { newId } from '#platform/lib/ids.ts';
import { dayAhead } from '../../support/hotel.ts';

/** Pools of fields that `Pools.find` does not find by the name of the field, such as `rate_plan_id`, or by its plural, such as `orders.id`. */
const ALIASES: Record<string, string> = {
  item_id: 'sku',
  variant_id: 'price_variants.id',
  booking_id: 'reservations.id',
};
/** Ids at the start of a full pool that stay in it. Most belong to objects that `furnish.ts` made in a known state. */
const KEPT = 32;
const POOL_SIZE = 64;

/**
 * Ids from earlier responses, which later requests use. Each field has its own list of ids, called a pool. The pool of the field `id` has
 * also the name of the list that contains the object, for example `rate_plans.id`. So a new route gets fitting ids without a change.
 */
export class Pools {
  readonly #pools = new Map<string, string[]>();
  /** Ids with which the fuzzer authenticates. A request that revokes or removes one of them would lock the fuzzer out. */
  readonly #reserved = new Set<string>();

  reserve(id: string): void {
    this.#reserved.add(id);
  }

  add(name: string, value: string): void {
    const pool = this.#pools.get(name) ?? [];
    this.#pools.set(name, pool);
    if (this.#reserved.has(value) || pool.includes(value)) {
      return;
    }
    if (pool.length >= POOL_SIZE) {
      pool.splice(KEPT, 1);
    }
    pool.push(value);
  }

  /**
   * Adds the ids in the body of a response to the pools.
   * @param collection the last segment of the request path that is not a parameter, for example `orders`
   */
  learn(answer: unknown, collection: string, prefix = ''): void {
    if (Array.isArray(answer)) {
      answer.forEach((each) => this.learn(each, collection, prefix));
    } else if (typeof answer === 'object' && answer !== null) {
      for (const [key, value] of Object.entries(answer)) {
        if (key === 'id' && typeof value === 'string') {
          this.add(`${prefix}${collection}.id`, value);
        } else if (/(_id|^sku|cursor)$/.test(key) && typeof value === 'string') {
          this.add(prefix + key, value);
        } else {
          // A page of a list has its entries in the field `results`.
          this.learn(value, key === 'results' ? collection : key, prefix);
        }
      }
    }
  }

  /** Returns an id for a placeholder. If there is no such pool, returns a new id that belongs to no tenant. */
  find(name: string, index: number): string {
    const bare = name.replace('rival.', '');
    const prefix = name.slice(0, name.length - bare.length);
    const names = [bare, ALIASES[bare], `${pluralOf(bare.replace(/_id$/, ''))}.id`];
    const pool = names.map((each) => this.#pools.get(`${prefix}${each}`)).find((each) => each !== undefined);
    return pool?.[index % pool.length] ?? newId();
  }

  /**
   * Replaces the placeholders in a text with values.
   * @param write encodes a value so that the text stays valid, for example as a URL path or as JSON
   */
  resolve(text: string, write: (value: string) => string): string {
    return text.replaceAll(/REF-([\w.]+)-(\d+)-/g, (_, name: string, index: string) =>
      write(name === 'day' ? dayAhead(Number(index)) : this.find(name, Number(index))),
    );
  }

  /** Returns the ids of one tenant that the service itself has generated. @param prefix beginning of the names of its pools */
  madeHere(prefix: string): string[] {
    const isOwn = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}external_`);
    return [...this.#pools].flatMap(([name, values]) => (isOwn(name) ? values : []));
  }
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
