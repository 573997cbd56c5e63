import { newId } from '#platform/lib/ids.ts';
import { dayAhead } from '../support/hotel.ts';

/** Names of pools for the fields whose ids are in a pool with a different name than the field, keyed by the name of the field. */
const ALIASES: Record<string, string> = {
  item_id: 'sku',
  variant_id: 'price_variants.id',
  booking_id: 'reservations.id',
};
/**
 * Number of the oldest ids in a pool that are never removed, because the objects with these ids are in known states. If
 * the pool is full, a new id replaces one of the later ids.
 */
const KEPT = 32;
const POOL_SIZE = 64;

/**
 * Ids that responses contained, for use in later requests. Each field has a pool of ids, which has the name of the field. For a field `id`,
 * the name of the pool begins with the name of the list, for example `rate_plans.id`. So if a new route has a parameter that is an id, this
 * code needs no change: the parameter gets the ids that other routes return.
 */
export class Pools {
  readonly #pools = new Map<string, string[]>();
  /**
   * Ids of the credentials and channels with which the fuzzer authenticates. No request may use these ids, because a
   * request that revokes one of them would lock the fuzzer out.
   */
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
   * @param collection the last step of the request path that is not a parameter
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
          // A page has its entries in the field `results`. The pool of their ids is named after the list, not after
          // this field.
          this.learn(value, key === 'results' ? collection : key, prefix);
        }
      }
    }
  }

  /**
   * Returns the id for a placeholder: entry `index` of the pool `name`. If there is no such pool, returns a new id that
   * belongs to no tenant.
   */
  find(name: string, index: number): string {
    const bare = name.replace('rival.', '');
    const prefix = name.slice(0, name.length - bare.length);
    const names = [bare, ALIASES[bare], `${pluralOf(bare.replace(/_id$/, ''))}.id`];
    const pool = names.map((each) => this.#pools.get(`${prefix}${each}`)).find((each) => each !== undefined);
    return pool?.[index % pool.length] ?? newId();
  }

  /**
   * Replaces the placeholders in a text with values.
   * @param write encodes a value for the place of the placeholder, for example a path or JSON
   */
  resolve(text: string, write: (value: string) => string): string {
    return text.replaceAll(/REF-([\w.]+)-(\d+)-/g, (_, name: string, index: string) =>
      write(name === 'day' ? dayAhead(Number(index)) : this.find(name, Number(index))),
    );
  }

  /**
   * Returns the ids that the service itself has generated, from all pools whose names begin with the prefix. External
   * ids are excluded, because callers choose them.
   */
  madeHere(prefix: string): string[] {
    const isOwn = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}external_`);
    return [...this.#pools].flatMap(([name, values]) => (isOwn(name) ? values : []));
  }
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
