import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { faultsOf } from '#test/support/answers.ts';
import { EVENTS, eventOf, insertEvents, readEvents, readToEnd } from '#test/support/feed.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { raiseFeedEra } from './feed.ts';

let service: TestService;
let tenant: TestTenant;
before(async () => {
  service = await startService();
});
beforeEach(async () => {
  await sql`UPDATE feed_era SET era = 0`.execute(service.database.db);
  tenant = await service.tenant();
});
after(() => service.close());

const insert = (count: number) =>
  insertEvents(
    service.database.db,
    Array.from({ length: count }, () => eventOf(tenant)),
  );

/**
 * Reads the feed with a cursor that must be refused. Checks that the response has only one error message and that this message says what to
 * do. Returns the message.
 */
async function faultOf(cursor: string): Promise<string> {
  const answer = await service.call('GET', `${EVENTS}?after=${cursor}`, { headers: tenant.partner });
  const [fault = '', ...others] = faultsOf(answer);
  assert.deepEqual(others, []);
  assert.match(fault, /^after: .* Leave out `after` to begin again .* event_id .* orders and reservations/);
  return fault;
}

describe('a cursor beyond the end of the feed', () => {
  it('400: a cursor beyond the last event of the feed is refused, and the message says what to do', async () => {
    await insert(3);
    const { next } = await readToEnd(service, tenant.partner);
    assert.equal(next, '3');
    assert.deepEqual((await readEvents(service, tenant.partner, '?after=3')).results, []);
    for (const cursor of ['4', '1000', '999999999999999']) {
      assert.match(await faultOf(cursor), /beyond the end of the feed/);
    }
  });

  it('400: if no client has yet read events of a feed, a cursor above 0 is refused, because an event gets its position when it is first read', async () => {
    assert.match(await faultOf('1'), /beyond the end/);
    await insert(3);
    assert.match(await faultOf('2'), /beyond the end/);
    assert.equal(
      (await readToEnd(service, tenant.partner)).next,
      '3',
      'the refused calls numbered and skipped no event',
    );
  });

  it('400: a cursor is refused if the database was set back to a state from before the cursor', async () => {
    const [first] = await insert(3);
    const { next } = await readToEnd(service, tenant.partner);
    const { db } = service.database;
    await sql`DELETE FROM event WHERE tenant_id = ${tenant.tenantId} AND id <> ${first}`.execute(db);
    await sql`UPDATE event_feed SET last_position = 1 WHERE tenant_id = ${tenant.tenantId}`.execute(db);
    assert.match(await faultOf(next), /beyond the end/);
    assert.deepEqual((await readToEnd(service, tenant.partner)).ids, [first]);
  });
});

describe('a cursor of an earlier feed era (each restore from a backup raises the era)', () => {
  it('400: a cursor of an earlier feed era (from before a restore) is refused, even if the feed now has events after this cursor', async () => {
    const early = await insert(3);
    const { next: old } = await readToEnd(service, tenant.partner);
    assert.equal(old, '3', 'in era 0 a cursor is a plain number');
    const era = await raiseFeedEra(service.database.db);
    assert.match(await faultOf(old), /restored from a backup/);
    const late = await insert(3);
    const { ids, next, all } = await readToEnd(service, tenant.partner);
    assert.deepEqual(ids, [...early, ...late]);
    assert.deepEqual([all[0]?.cursor, next], [`${era}-1`, `${era}-6`]);
    assert.match(await faultOf(old), /restored from a backup/);
    assert.deepEqual((await readToEnd(service, tenant.partner, `${era}-3`)).ids, late);
    assert.match(await faultOf(`${era}-7`), /beyond the end/);
    assert.match(await faultOf(`${era + 1}-3`), /restored from a backup/);
  });

  it('400: after the era was raised, a process that was already running refuses a cursor of the old era', async (t) => {
    const node = await startService({ beside: service });
    t.after(() => node.close());
    await insert(1);
    const { next } = await readToEnd(node, tenant.partner);
    await readEvents(node, tenant.partner, `?after=${next}`);
    await raiseFeedEra(service.database.db);
    const answer = await node.call('GET', `${EVENTS}?after=${next}`, { headers: tenant.partner });
    assert.match(faultsOf(answer)[0] ?? '', /restored from a backup/);
  });

  it('200: after the feed era was raised, as after a restore from a backup, a client can read from the start (after= or after=0) or end (after=latest)', async () => {
    const early = await insert(2);
    const era = await raiseFeedEra(service.database.db);
    for (const start of ['', '0', `${era}-0`]) {
      assert.deepEqual((await readToEnd(service, tenant.partner, start)).ids, early);
    }
    const { next } = await readEvents(service, tenant.partner, '?after=latest');
    assert.equal(next, `${era}-2`);
    const late = await insert(1);
    assert.deepEqual((await readToEnd(service, tenant.partner, next)).ids, late);
  });
});

describe('raiseFeedEra', () => {
  it('each call of raiseFeedEra raises the era, even in the same second, after a second restore, or if the clock is wrong', async () => {
    const { db } = service.database;
    const restoredAt = new Date('2026-11-22T10:00:00.900Z');
    const seconds = restoredAt.getTime() / 1_000 - 0.9;
    assert.equal(await raiseFeedEra(db, restoredAt), seconds);
    assert.equal(await raiseFeedEra(db, restoredAt), seconds + 1);
    // Simulates a second restore of the same backup. The backup has the era 0, so the restore brings this era back.
    await sql`UPDATE feed_era SET era = 0`.execute(db);
    assert.equal(await raiseFeedEra(db, new Date(restoredAt.getTime() + 60_000)), seconds + 60);
    assert.equal(await raiseFeedEra(db, new Date(0)), seconds + 61, 'a clock that is wrong does not lower the era');
  });
});
