import type { ChangeRow } from '#platform/changes/changes.ts';

/**
 * Time in milliseconds for which a topic is kept. `since` needs the topics of the last 60 s. The reason is that a client may have had no
 * stream for 30 s, and the transaction of a missed change may have begun up to 30 s earlier. The time is twice as long, so that no topic is
 * removed too early.
 */
const KEPT_MS = 120_000;

interface Entry {
  tenantId: number;
  topic: string | null;
  changedAtMs: number;
  /** Time (`performance.now()`) at which this process got the latest change of the topic from the database. */
  readAtMs: number;
}

/**
 * Topics (kinds of data) of the recent changes of all tenants, one entry for each tenant and topic. Tenants without an open stream in this
 * process have entries too. If another process dies, its clients may open their next streams here.
 */
export class RecentTopics {
  /** Entries, keyed by tenant and topic, in the order of `readAtMs`. The entry with the earliest time comes first. */
  readonly #entries = new Map<string, Entry>();
  /** Entries of `#entries`, grouped by tenant id. */
  readonly #ofTenants = new Map<number, Map<string, Entry>>();

  add(changes: ChangeRow[]): void {
    const readAtMs = performance.now();
    for (const { tenantId, topic, changedAtMs } of changes) {
      const key = `${tenantId} ${topic}`;
      const latestMs = Math.max(changedAtMs, this.#entries.get(key)?.changedAtMs ?? 0);
      const entry = { tenantId, topic, changedAtMs: latestMs, readAtMs };
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      const ofTenant = this.#ofTenants.get(tenantId) ?? new Map<string, Entry>();
      this.#ofTenants.set(tenantId, ofTenant.set(key, entry));
    }
    this.#removeOld(readAtMs);
  }

  /**
   * Returns the topics of the tenant's changes whose transactions began after `momentMs` (database clock, milliseconds of Unix time). A
   * topic is null if a change did not name its topic.
   */
  since(tenantId: number, momentMs: number): (string | null)[] {
    const entries = [...(this.#ofTenants.get(tenantId)?.values() ?? [])];
    return entries.filter(({ changedAtMs }) => changedAtMs > momentMs).map(({ topic }) => topic);
  }

  #removeOld(nowMs: number): void {
    for (const [key, { tenantId, readAtMs }] of this.#entries) {
      if (nowMs - readAtMs < KEPT_MS) {
        return;
      }
      this.#entries.delete(key);
      const ofTenant = this.#ofTenants.get(tenantId);
      ofTenant?.delete(key);
      if (ofTenant?.size === 0) {
        this.#ofTenants.delete(tenantId);
      }
    }
  }
}
