import { newId } from '#platform/lib/ids.ts';
import { dayAhead } from '../support/hotel.ts';

/** Pools of fields that take values from a field with another name. */
const ALIASES: Record<string, string> = {
  item_id: 'sku',
  variant_id: 'price_variants.id',
  booking_id: 'reservations.id',
};
/** Number of values that a pool never removes, because their states are known. Newer values replace the others. */
const KEPT = 32;
const POOL_SIZE = 64;

/**
 * Ids from responses, by the name of their field. The pool of a field `id` also has the name of the list (`rate_plans.id`).
 * So the parameters of a new route get values as soon as another route shows such values.
 */
export class Pools {
  readonly #pools = new Map<string, string[]>();
  /** Ids that no request may use. A case that revoked such a credential would block the fuzzer itself. */
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
   * Adds the ids of a response.
   * @param collection the last fixed step of the path of the request
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
          // The field `results` of a page stands for the list itself.
          this.learn(value, key === 'results' ? collection : key, prefix);
        }
      }
    }
  }

  /** Returns the value of a placeholder. If no response showed a value, returns a new id that belongs to no tenant. */
  find(name: string, index: number): string {
    const bare = name.replace('rival.', '');
    const prefix = name.slice(0, name.length - bare.length);
    const names = [bare, ALIASES[bare], `${pluralOf(bare.replace(/_id$/, ''))}.id`];
    const pool = names.map((each) => this.#pools.get(`${prefix}${each}`)).find((each) => each !== undefined);
    return pool?.[index % pool.length] ?? newId();
  }

  /**
   * Replaces the placeholders of a text with values.
   * @param write encodes a value for its place, for example a path or JSON
   */
  resolve(text: string, write: (value: string) => string): string {
    return text.replaceAll(/REF-([\w.]+)-(\d+)-/g, (_, name: string, index: string) =>
      write(name === 'day' ? dayAhead(Number(index)) : this.find(name, Number(index))),
    );
  }

  /**
   * Returns all values under a prefix that the service has generated. External ids are excluded, because callers choose
   * them.
   */
  madeHere(prefix: string): string[] {
    const isOwn = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}external_`);
    return [...this.#pools].flatMap(([name, values]) => (isOwn(name) ? values : []));
  }
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
