import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventOf, insertEvents, readEvents, readToEnd } from '#test/support/feed.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';

/** In these tests, transactions commit in an order that differs from the order of their event ids. */
describe('cursors of the event feed', () => {
  let service: TestService;
  let node: TestService;
  let loser: CommitProxy;
  let tenant: TestTenant;
  before(async () => {
    const config = { rateLimitPerMinute: 1_000_000 };
    service = await startService({ config });
    loser = await startCommitProxy(service.database.url);
    node = await startService({ config, beside: { ...service, database: { ...service.database, db: loser.db } } });
  });
  beforeEach(async () => {
    tenant = await service.tenant();
  });
  after(async () => {
    await node.close();
    await loser.close();
    await service.close();
  });

  const write = (count: number) =>
    insertEvents(
      service.database.db,
      Array.from({ length: count }, () => eventOf(tenant)),
    );

  async function begin(t: TestContext): Promise<{ id: string; commit: () => Promise<void> }> {
    const tx = await service.database.db.startTransaction().execute();
    t.after(async () => {
      if (!tx.isCommitted) {
        await tx.rollback().execute();
      }
    });
    const event = eventOf(tenant);
    await tx.insertInto('event').values(event).execute();
    return { id: event.id, commit: () => tx.commit().execute() };
  }

  it('the feed does not wait for an open transaction, and its event later comes after all events that were already read', async (t) => {
    const early = await write(2);
    const [first, second] = [await begin(t), await begin(t)];
    const later = await write(5);
    const read = await readToEnd(service, tenant.partner, '', 3);
    assert.deepEqual(read.ids, [...early, ...later], 'committed events are readable immediately');
    await second.commit();
    const next = await readToEnd(service, tenant.partner, read.next, 3);
    assert.deepEqual(next.ids, [second.id]);
    const last = await write(1);
    await first.commit();
    assert.deepEqual((await readToEnd(service, tenant.partner, next.next, 3)).ids, [first.id, ...last]);
    const order = [...early, ...later, second.id, first.id, ...last];
    assert.deepEqual((await readToEnd(service, tenant.partner)).ids, order, 'a second reader gets the same order');
  });

  it('the cursor of after=latest is after all committed events and before all events that are committed later', async (t) => {
    await write(2);
    const open = await begin(t);
    await write(3);
    const { next } = await readEvents(service, tenant.partner, '?after=latest');
    assert.equal(next, '5');
    await open.commit();
    const late = await write(1);
    assert.deepEqual((await readToEnd(service, tenant.partner, next)).ids, [open.id, ...late]);
  });

  it('four concurrent calls with after=latest get the same correct cursor, even if the response to a COMMIT is lost', async () => {
    await write(1_200);
    loser.dropNextCommitResponse();
    const ends = await Promise.all(
      [node, node, service, service].map((each) => readEvents(each, tenant.partner, '?after=latest')),
    );
    assert.deepEqual(
      ends.map(({ next }) => next),
      Array(4).fill('1200'),
    );
    const late = await write(2);
    assert.deepEqual((await readToEnd(service, tenant.partner, '1200')).ids, late);
  });

  it('a page of the feed and its cursors are correct even if the response to the COMMIT that assigns positions is lost', async () => {
    const ids = await write(7);
    const lostBefore = loser.lostCount;
    loser.dropNextCommitResponse();
    const page = await readEvents(node, tenant.partner, '?limit=5');
    assert.equal(loser.lostCount, lostBefore + 1);
    assert.deepEqual(
      page.results.map((entry) => [entry.event_id, entry.cursor]),
      ids.slice(0, 5).map((id, index) => [id, String(index + 1)]),
    );
    assert.deepEqual((await readToEnd(node, tenant.partner, page.next)).ids, ids.slice(5));
  });

  it('eight clients that begin to read the feed at the same time get the same events with the same cursors', async () => {
    const ids = await write(120);
    const reads = await Promise.all(Array.from({ length: 8 }, () => readToEnd(service, tenant.partner, '', 7)));
    for (const { all } of reads) {
      assert.deepEqual(
        all.map((entry) => [entry.event_id, entry.cursor]),
        ids.map((id, index) => [id, String(index + 1)]),
      );
    }
  });

  it('two readers of the feed each get every committed event exactly once during commits, rollbacks and updates of events', {
    timeout: 60_000,
  }, async () => {
    const { db } = service.database;
    const committed: string[] = [];
    let isWriting = true;

    async function writeSlowly(): Promise<void> {
      for (let count = 0; count < 60; count += 1) {
        const events = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => eventOf(tenant));
        const tx = await db.startTransaction().execute();
        await tx.insertInto('event').values(events).execute();
        await sleep(Math.random() ** 3 * 80);
        if (Math.random() < 0.25) {
          await tx.rollback().execute();
        } else {
          await tx.commit().execute();
          committed.push(...events.map(({ id }) => id));
        }
      }
    }
    /**
     * Updates the last eight committed events again and again, newest first, until the test writes no more events. The updates move rows
     * within the table, so that the rows of the events are not in the order of their commits. Each update has its own transaction. One
     * transaction would lock several events in another order than the readers, and a deadlock would be possible.
     */
    async function touch(): Promise<void> {
      while (isWriting) {
        for (const id of committed.slice(-8).reverse()) {
          const change = db.updateTable('event').set({ created_at: new Date() });
          await change.where('tenant_id', '=', tenant.tenantId).where('id', '=', id).execute();
        }
        await sleep(5);
      }
    }
    async function poll(limit: number): Promise<string[]> {
      const seen: string[] = [];
      let next = '';
      while (isWriting) {
        const page = await readEvents(service, tenant.partner, `?after=${next}&limit=${limit}`);
        seen.push(...page.results.map((entry) => entry.event_id));
        next = page.next;
        await sleep(Math.random() * 10);
      }
      return [...seen, ...(await readToEnd(service, tenant.partner, next)).ids];
    }

    const polling = Promise.all([poll(3), poll(200)]);
    const touching = touch();
    await Promise.all(Array.from({ length: 5 }, writeSlowly)).finally(() => {
      isWriting = false;
    });
    await touching;
    for (const seen of await polling) {
      assert.equal(new Set(seen).size, seen.length, 'no event was read twice');
      assert.deepEqual(
        seen.toSorted(),
        committed.toSorted(),
        'the reader got all committed events and no event that was rolled back',
      );
    }
    assert.notDeepEqual(committed, committed.toSorted(), 'the order of commits differs from the order of the ids');
  });
});
