import { newId } from '#platform/lib/ids.ts';
import { dayAhead } from '../../support/hotel.ts';

/**
 * Name of the pool that has the ids for a field, keyed by the name of the field. A pool is a list of ids from earlier responses. Two kinds
 * of fields need no entry:
 * - a field whose pool has the same name, for example `rate_plan_id`
 * - a field such as `order_id`. For this field, `Pools.find` forms the plural of `order`, and finds the pool `orders.id`
 */
const ALIASES: Record<string, string> = {
  item_id: 'sku',
  variant_id: 'price_variants.id',
  booking_id: 'reservations.id',
};
/**
 * Number of ids at the start of a pool that stay in the pool. Most of them belong to objects that `furnish.ts` made in a known state. If
 * the pool is full, a new id replaces the oldest of the other ids.
 */
const KEPT = 32;
const POOL_SIZE = 64;

/**
 * Ids from earlier responses, which later requests use. Each field has its own list of ids, called a pool. Most pools have the name of
 * their field, for example `rate_plan_id`. But the field `id` occurs in many kinds of objects. So the name of its pool begins with
 * the name of the list that contains the object. For example, the ids of the entries of `rate_plans` are in the pool `rate_plans.id`. All
 * names are derived from requests and responses, so a new route gets fitting ids without a change of this code.
 */
export class Pools {
  readonly #pools = new Map<string, string[]>();
  /**
   * Ids of the users, credentials and channels with which the fuzzer authenticates. No request may use these ids, because a request that
   * revokes or removes one of them would lock the fuzzer out.
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
          // A page of a list has its entries in the field `results`. But the name of their pool comes from the name of the list. For
          // example, the ids of orders are in the pool `orders.id`, and not in `results.id`.
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
   * @param write encodes a value so that the text stays valid, for example as a URL path or as JSON
   */
  resolve(text: string, write: (value: string) => string): string {
    return text.replaceAll(/REF-([\w.]+)-(\d+)-/g, (_, name: string, index: string) =>
      write(name === 'day' ? dayAhead(Number(index)) : this.find(name, Number(index))),
    );
  }

  /**
   * Returns the ids of one tenant that the service itself has generated. External ids are excluded, because callers choose them.
   * @param prefix beginning of the names of all pools of the tenant, for example `rival.` for the second tenant
   */
  madeHere(prefix: string): string[] {
    const isOwn = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}external_`);
    return [...this.#pools].flatMap(([name, values]) => (isOwn(name) ? values : []));
  }
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
