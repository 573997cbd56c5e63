import { LRUCache } from 'lru-cache';
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
const MAX_URLS = 10_000;

/**
 * Credentials with due deliveries, in the order of their turns. The deliveries themselves stay in the database, so a million waiting
 * deliveries take no more memory than ten.
 */
export class Queues {
  /** Queues by credential id. The next claim begins with the first one. */
  readonly #queues = new Map<string, DueQueue>();
  /** Webhook URLs of the credentials seen last, by credential id. */
  readonly #urls = new LRUCache<string, string>({ max: MAX_URLS });

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Adds a queue behind the others. A queue that is already there keeps its turn. */
  add(queue: DueQueue): void {
    this.#queues.set(queue.credentialId, queue);
    this.#urls.set(queue.credentialId, queue.webhookUrl);
  }

  addFound(found: DueQueue[]): void {
    const countOf = new Tally<number>();
    this.#queues.forEach(({ tenantId }) => countOf.add(tenantId, 1));
    for (const queue of found) {
      if (countOf.of(queue.tenantId) < MAX_QUEUES_OF_TENANT) {
        countOf.add(queue.tenantId, 1);
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
          this.#queues.delete(queue.credentialId);
        }
      }
    }
    return Math.max(1, MAX_QUEUES - this.#queues.size);
  }

  /**
   * Chooses what the next claim takes, at most `CLAIM_SIZE` deliveries, and removes the chosen queues. Each queue gets an equal part of the
   * claim and of the places. What is left then goes to the queues in their order: only then, a tenant gets more than half of all places,
   * and a receiver gets deliveries that are claimed ahead.
   */
  choose(free: FreePlaces): { queue: DueQueue; wanted: Wanted }[] {
    const { ready, isAll } = this.#ready(free);
    const waiting = new Set([...this.#queues.values()].map(({ webhookUrl }) => webhookUrl)).size;
    const part = Math.ceil(CLAIM_SIZE / ready.length);
    const counts = new Tally<DueQueue>();
    let left = CLAIM_SIZE;
    const take = (queue: DueQueue, most: number) => {
      const { tenantId, webhookUrl, isActive } = queue;
      const count = Math.min(left, part - counts.of(queue), isActive ? most : STOP_SIZE);
      if (count > 0) {
        counts.add(queue, count);
        left -= count;
        if (isActive) {
          free.take(tenantId, webhookUrl, count);
        }
      }
    };
    for (const queue of ready) {
      take(queue, Math.min(free.equalPart(queue.webhookUrl, waiting), free.ofTenant(queue.tenantId)));
    }
    if (isAll) {
      const active = ready.filter(({ isActive }) => isActive);
      active.forEach((queue) => take(queue, free.equalPart(queue.webhookUrl, waiting)));
      active.forEach((queue) => take(queue, free.at(queue.webhookUrl)));
    }
    const chosen = ready.filter((queue) => counts.of(queue) > 0);
    chosen.forEach(({ credentialId }) => this.#queues.delete(credentialId));
    return chosen.map((queue) => {
      const { tenantId, credentialId } = queue;
      return { queue, wanted: { tenantId, credentialId, count: counts.of(queue) } };
    });
  }

  /** Queues of tenants that hold half of all places come last. `isAll` says that no queue of another tenant is left out. */
  #ready(free: FreePlaces): { ready: DueQueue[]; isAll: boolean } {
    const first: DueQueue[] = [];
    const overHalf: DueQueue[] = [];
    for (const queue of this.#queues.values()) {
      const { tenantId, webhookUrl, isActive } = queue;
      if (!isActive || free.at(webhookUrl) > 0) {
        (isActive && free.ofTenant(tenantId) === 0 ? overHalf : first).push(queue);
      }
      if (first.length === CLAIM_SIZE) {
        return { ready: first, isAll: false };
      }
    }
    return { ready: [...first, ...overHalf].slice(0, CLAIM_SIZE), isAll: true };
  }
}
