import type { ChangeRow } from '#platform/changes/changes.ts';

/** Time for which a topic is kept, which is longer than any client may be away. */
const KEPT_MS = 120_000;

interface Entry {
  tenantId: number;
  topic: string | null;
  changedAtMs: number;
  /** Time of the poll that has read the change, in milliseconds of `performance.now()`. */
  readAtMs: number;
}

/**
 * Topics of the recent changes of all tenants, also of those that nobody watches, because a client may come back from another process that has
 * died. Has one entry for each tenant and topic.
 */
export class RecentTopics {
  /** The entry that was read last comes last. */
  readonly #entries = new Map<string, Entry>();
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

  /** Returns the topics of changes of the tenant whose transactions began after a moment, by the clock of the database. */
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
