import assert from 'node:assert/strict';
import type { Insertable } from 'kysely';
import type { Database, DB } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';

export const EVENTS = '/v1/third-party/events/';

export interface ListedEvent {
  cursor: string;
  event: string;
  event_id: string;
  occurred_at: string;
  data: Record<string, string>;
  delivery: { status: string; attempts: object[] } | null;
}

/** Row of the table `event`, and its row of the table `delivery` if the event has a delivery. */
type EventRow = Insertable<DB['event']> & {
  delivery?: Omit<Insertable<DB['delivery']>, 'tenant_id' | 'id' | 'credential_id'>;
};

/** Returns an event of the tenant's first credential, by default without a delivery. */
export function eventOf(
  { tenantId, credential }: Pick<TestTenant, 'tenantId' | 'credential'>,
  changes: Partial<EventRow> = {},
): EventRow {
  const id = changes.id ?? newId();
  const occurredAt = new Date();
  const data = { order_id: newId(), external_order_id: 'N-1', status: 'confirmed' };
  const type = 'order.status_changed';
  const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
  const subject = JSON.stringify({ type: 'order', id: data.order_id, external_id: data.external_order_id });
  const key = { tenant_id: tenantId, id, credential_id: credential.id };
  return { ...key, type, body, subject, created_at: occurredAt, ...changes };
}

/** At most 1,000 in each statement, because PostgreSQL limits the number of parameters. @returns the ids of the events */
export async function insertEvents(db: Database, events: EventRow[]): Promise<string[]> {
  for (let done = 0; done < events.length; done += 1_000) {
    const batch = events.slice(done, done + 1_000);
    const rows = batch.map(({ delivery: _, ...event }) => event);
    await db.insertInto('event').values(rows).execute();
    const deliveries = batch.flatMap(({ tenant_id, id, credential_id, delivery }) =>
      delivery === undefined ? [] : [{ tenant_id, id, credential_id, ...delivery }],
    );
    if (deliveries.length > 0) {
      await db.insertInto('delivery').values(deliveries).execute();
    }
  }
  return events.map(({ id }) => id);
}

export async function readEvents(
  service: TestService,
  partner: Record<string, string>,
  query = '',
): Promise<{ results: ListedEvent[]; next: string }> {
  const answer: Answer = await service.call('GET', EVENTS + query, { headers: partner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function readToEnd(service: TestService, partner: Record<string, string>, after = '', limit = 50) {
  const all: ListedEvent[] = [];
  let next = after;
  for (;;) {
    const page = await readEvents(service, partner, `?after=${next}&limit=${limit}`);
    if (page.results.length === 0) {
      assert.equal(page.next, next);
      return { all, ids: all.map((entry) => entry.event_id), next };
    }
    assert.notEqual(page.next, next, 'the cursor of a page with events did not advance');
    all.push(...page.results);
    next = page.next;
  }
}
