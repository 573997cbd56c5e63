import { newId } from '#platform/lib/ids.ts';
import { dayAhead } from '../support/hotel.ts';

/** Under another name than the field that takes them. */
const ALIASES: Record<string, string> = {
  item_id: 'sku',
  variant_id: 'price_variants.id',
  booking_id: 'reservations.id',
};
/** The first ones stay: they are in known states. The others make way for newer ones. */
const KEPT = 32;
const POOL_SIZE = 64;

/**
 * The ids seen in answers, by the name of their field; an `id` by the list it stands in (`rate_plans.id`). So a new route's
 * parameters find values as soon as another route shows them.
 */
export class Pools {
  readonly #pools = new Map<string, string[]>();
  /** Ids that must not come back as a request's value: whoever revokes them locks the fuzzer out. */
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

  /** Takes what an answer shows. @param collection the last fixed step of the path it came from */
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
          // A page's results are the list itself.
          this.learn(value, key === 'results' ? collection : key, prefix);
        }
      }
    }
  }

  /** The value that a stand-in means; nobody's id where none was seen. */
  find(name: string, index: number): string {
    const bare = name.replace('rival.', '');
    const prefix = name.slice(0, name.length - bare.length);
    const names = [bare, ALIASES[bare], `${pluralOf(bare.replace(/_id$/, ''))}.id`];
    const pool = names.map((each) => this.#pools.get(`${prefix}${each}`)).find((each) => each !== undefined);
    return pool?.[index % pool.length] ?? newId();
  }

  /** Puts values in the place of stand-ins. @param write spells a value where it stands: in a path, in JSON, … */
  resolve(text: string, write: (value: string) => string): string {
    return text.replaceAll(/REF-([\w.]+)-(\d+)-/g, (_, name: string, index: string) =>
      write(name === 'day' ? dayAhead(Number(index)) : this.find(name, Number(index))),
    );
  }

  /** Every value under a prefix that the service has made up; external ids are the callers' own. */
  madeHere(prefix: string): string[] {
    const isOwn = (name: string) => name.startsWith(prefix) && !name.startsWith(`${prefix}external_`);
    return [...this.#pools].flatMap(([name, values]) => (isOwn(name) ? values : []));
  }
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
