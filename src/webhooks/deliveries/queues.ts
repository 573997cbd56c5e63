import { Tally } from '#platform/lib/tally.ts';
import type { DueCredential } from '../events/events.ts';
import type { FreePlaces } from './capacity.ts';
import type { DueQueue } from './search-store.ts';
import { CLAIM_SIZE, type Wanted } from './store.ts';

/** Maximum number of deliveries of one revoked credential that one claim stops. The others wait for a later claim. */
const STOP_SIZE = 20;
/** Number of queues in memory from which a search adds no more. */
const MAX_QUEUES = 5_000;
/** Maximum number of queues that a search adds for one tenant, so that memory always has space for other tenants. */
const MAX_QUEUES_OF_TENANT = MAX_QUEUES / 2;
/** Maximum number of credentials whose webhook URLs are remembered. */
const MAX_URLS = 10_000;

/**
 * Credentials with due deliveries, in the order of their turns. The deliveries themselves stay in the database, so a million waiting
 * deliveries take no more memory than ten.
 */
export class Queues {
  /** Queues by credential id. The next claim begins with the first one. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #countOf = new Tally<number>();
  /** Webhook URL of each credential that was seen, by credential id. The one seen longest ago comes first. */
  readonly #urls = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Adds a queue behind the others. A queue that is already there keeps its turn. */
  add(queue: DueQueue): void {
    if (!this.#queues.has(queue.credentialId)) {
      this.#countOf.add(queue.tenantId, 1);
    }
    this.#queues.set(queue.credentialId, queue);
    this.#urls.delete(queue.credentialId);
    this.#urls.set(queue.credentialId, queue.webhookUrl);
    if (this.#urls.size > MAX_URLS) {
      const [oldest = ''] = this.#urls.keys();
      this.#urls.delete(oldest);
    }
  }

  /** Adds the queues that a search has found. */
  addFound(found: DueQueue[]): void {
    for (const queue of found) {
      if (this.#countOf.of(queue.tenantId) < MAX_QUEUES_OF_TENANT) {
        this.add(queue);
      }
    }
  }

  /** Adds the queue of a credential whose webhook URL is remembered. Returns false if it is not. */
  addKnown({ tenantId, credentialId }: Omit<DueCredential, 'webhookUrl'>): boolean {
    const webhookUrl = this.#urls.get(credentialId);
    if (webhookUrl !== undefined) {
      this.add({ tenantId, credentialId, webhookUrl, isActive: true });
    }
    return webhookUrl !== undefined;
  }

  /**
   * If memory is half full, removes the queues whose receivers have no free place, so that queues of slow receivers never fill it. A later
   * search finds them again.
   * @returns the number of queues that a search may find, at least 1
   */
  makeRoom(free: FreePlaces): number {
    if (this.#queues.size >= MAX_QUEUES / 2) {
      for (const queue of this.#queues.values()) {
        if (queue.isActive && free.at(queue.webhookUrl) === 0) {
          this.#remove(queue);
        }
      }
    }
    return Math.max(1, MAX_QUEUES - this.#queues.size);
  }

  /**
   * Chooses what the next claim takes, at most `CLAIM_SIZE` deliveries, and removes the chosen queues. Each queue gets an equal part, so
   * that the worker does not open many connections to few receivers. A tenant gets more than half of all places only if every other tenant
   * has got what it may have now.
   */
  choose(free: FreePlaces): { queue: DueQueue; wanted: Wanted }[] {
    const { ready, isAll } = this.#ready(free);
    const part = Math.ceil(CLAIM_SIZE / ready.length);
    const counts = new Tally<DueQueue>();
    let left = CLAIM_SIZE;
    const take = (queue: DueQueue, limit: number) => {
      const { tenantId, webhookUrl, isActive } = queue;
      const most = isActive ? Math.min(free.at(webhookUrl), limit) : STOP_SIZE;
      const count = Math.min(left, part - counts.of(queue), most);
      if (count > 0) {
        counts.add(queue, count);
        left -= count;
        if (isActive) {
          free.take(tenantId, webhookUrl, count);
        }
      }
    };
    ready.forEach((queue) => take(queue, free.ofTenant(queue.tenantId)));
    if (isAll) {
      ready.filter(({ isActive }) => isActive).forEach((queue) => take(queue, Number.POSITIVE_INFINITY));
    }
    const chosen = ready.filter((queue) => counts.of(queue) > 0);
    chosen.forEach((queue) => this.#remove(queue));
    return chosen.map((queue) => {
      const { tenantId, credentialId } = queue;
      return { queue, wanted: { tenantId, credentialId, count: counts.of(queue) } };
    });
  }

  /**
   * Returns the first queues from which deliveries may be claimed now. Those of tenants that hold half of all places come last. `isAll`
   * says that no queue of another tenant is left out.
   */
  #ready(free: FreePlaces): { ready: DueQueue[]; isAll: boolean } {
    const first: DueQueue[] = [];
    const overHalf: DueQueue[] = [];
    for (const queue of this.#queues.values()) {
      const { tenantId, webhookUrl, isActive } = queue;
      if (!isActive || free.at(webhookUrl) > 0) {
        // The deliveries of a revoked credential are stopped and not sent, so they need no place.
        (isActive && free.ofTenant(tenantId) === 0 ? overHalf : first).push(queue);
      }
      if (first.length === CLAIM_SIZE) {
        return { ready: first, isAll: false };
      }
    }
    return { ready: [...first, ...overHalf].slice(0, CLAIM_SIZE), isAll: true };
  }

  #remove({ tenantId, credentialId }: DueQueue): void {
    if (this.#queues.delete(credentialId)) {
      this.#countOf.add(tenantId, -1);
    }
  }
}
