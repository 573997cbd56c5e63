import type { ChangeRow } from '#platform/changes/changes.ts';

/**
 * Time in milliseconds for which a topic is kept. It is longer than the 60 s that `since` needs: a client may have missed 30 s, and the
 * transaction of a change may last 30 s.
 */
const KEPT_MS = 120_000;

interface Entry {
  tenantId: number;
  topic: string | null;
  changedAtMs: number;
  /** Time (`performance.now()`) of the poll that has read the change. */
  readAtMs: number;
}

/**
 * Topics of the recent changes of all tenants, one entry for each tenant and topic. Tenants without an open stream in this process have
 * entries too, because a client of such a tenant may open its next stream here after another process has died.
 */
export class RecentTopics {
  /** Entries by tenant and topic. The entry that was read last comes last. */
  readonly #entries = new Map<string, Entry>();
  /** Entries of `#entries`, by tenant id. */
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
