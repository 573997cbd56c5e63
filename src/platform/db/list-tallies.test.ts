import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { Random } from '#test/faults/random.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { Database } from './database.ts';
import { keysetList, type ListOrder, NEWEST_FIRST, OLDEST_FIRST } from './keyset-list.ts';
import type { TalliedList, TallyFilter } from './list-tallies.ts';

const DAY_MS = 86_400_000;
const DAYS = 40;
const STATUSES = ['completed', 'cancelled', 'pending', 'ready'];
const KINDS = ['delivery', 'take_away', 'pick_up'];
const FINAL = ['completed', 'cancelled'];

describe('a list with stored tallies', () => {
  let database: TestDatabase;
  let db: Database;
  let tenantId: number;
  let credentials: string[];
  /**
   * Start of the current day. The clock of this process stands still at noon of this day. If it ran, the tally of the previous day would be
   * missing in the first hour of a day. And if this hour ended during the tests, the number of days with tallies would change.
   */
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const random = new Random(20261126);
  before(async () => {
    mock.timers.enable({ apis: ['Date'], now: todayMs + DAY_MS / 2 });
    database = await createTestDatabase();
    ({ db } = database);
    tenantId = await insertTenant('long');
    credentials = await Promise.all(['first', 'second'].map((label) => insertCredential(tenantId, label)));
    await insertOrders(4_000, todayMs - DAYS * DAY_MS, todayMs);
    // The orders of this second tenant are of the same days, but must not be counted.
    const other = await insertTenant('other');
    await insertOrders(500, todayMs - DAYS * DAY_MS, todayMs, other, [await insertCredential(other, 'third')]);
    await sql`VACUUM ANALYZE restaurant_order`.execute(db);
  });
  after(async () => {
    mock.timers.reset();
    await database.drop();
  });

  async function insertTenant(slug: string): Promise<number> {
    const tenant = { slug, name: slug, currency: 'EUR', timezone: 'UTC', features: ['restaurant'] };
    return (await db.insertInto('tenant').values(tenant).returning('id').executeTakeFirstOrThrow()).id;
  }

  async function insertCredential(tenant: number, label: string): Promise<string> {
    const { rows } = await sql<{ id: string }>`
      INSERT INTO credential (tenant_id, id, audience, label, api_key, secret_hash)
      VALUES (${tenant}, gen_random_uuid(), 'third_party', ${label}, ${`key of ${label}`}, '') RETURNING id
    `.execute(db);
    return rows[0]?.id ?? '';
  }

  /** Inserts orders at random times. One in 20 is open. Two days in the middle have no order. */
  async function insertOrders(count: number, fromMs: number, untilMs: number, of = tenantId, owners = credentials) {
    await sql`
      INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, lines, total, currency, created_at)
      SELECT ${of}::bigint, (lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid,
        (${owners}::uuid[])[1 + n % ${owners.length}], hash,
        CASE WHEN n % 40 = 0 THEN 'pending' WHEN n % 40 = 1 THEN 'ready' WHEN n % 7 = 0 THEN 'cancelled' ELSE 'completed' END,
        CASE WHEN n % 90 = 0 THEN 'pick_up' WHEN n % 3 = 0 THEN 'take_away' ELSE 'delivery' END, '[]', 0, 'EUR', now()
      FROM (
        SELECT n, md5(n || ' ' || ${fromMs}) AS hash,
          ${fromMs}::bigint + (('x' || left(md5('time ' || n), 8))::bit(32)::bigint % (${untilMs - fromMs})::bigint) AS ms
        FROM generate_series(1, ${count}::int) AS n
      ) AS made
      WHERE ms / ${DAY_MS} NOT IN (${todayMs / DAY_MS - 20}, ${todayMs / DAY_MS - 21})
    `.execute(db);
  }

  function listOf(filter: TallyFilter, order: ListOrder, isTallied: boolean) {
    const tallied: TalliedList = {
      name: 'orders',
      table: 'restaurant_order',
      tenantId,
      facts: sql`SELECT id, status, order_type AS kind, credential_id FROM restaurant_order WHERE tenant_id = ${tenantId}`,
      isOpen: sql`status NOT IN ('completed', 'cancelled')`,
      partMs: DAY_MS,
      storing: { slowMs: 0, rows: 600 },
    };
    const rows = conditionsOf(filter).reduce(
      (query, condition) => query.where(condition),
      db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId),
    );
    return keysetList(
      db,
      rows,
      (list) => list.select(['id', 'status']),
      order,
      isTallied ? { form: 'tallied', tallied: { list: tallied, filter } } : undefined,
    );
  }

  function conditionsOf({ status, kind, credentialId, fromId, beforeId }: TallyFilter): RawBuilder<boolean>[] {
    return [
      ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
      ...(kind === undefined ? [] : [sql<boolean>`order_type = ${kind}`]),
      ...(credentialId === undefined ? [] : [sql<boolean>`credential_id = ${credentialId}::uuid`]),
      ...(fromId === undefined ? [] : [sql<boolean>`id >= ${fromId}::uuid`]),
      ...(beforeId === undefined ? [] : [sql<boolean>`id < ${beforeId}::uuid`]),
    ];
  }

  const maybe = <T>(values: T[]): T | undefined => (random.oneIn(2) ? random.pick(values) : undefined);
  const maybeTime = () => (random.oneIn(3) ? firstIdAt(todayMs - random.below(DAYS * DAY_MS)) : undefined);

  function randomFilter(): TallyFilter {
    return {
      status: maybe(FINAL),
      kind: maybe(KINDS),
      credentialId: maybe(credentials),
      fromId: maybeTime(),
      beforeId: maybeTime(),
    };
  }

  /** Asserts that pages with tallies equal pages without them, for random filters and offsets. */
  async function comparePages(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const filter = randomFilter();
      const order = random.pick([NEWEST_FIRST, OLDEST_FIRST]);
      const { count } = await listOf(filter, order, false).readPage(0, 1);
      for (const offset of [0, random.below(count + 1), Math.max(0, count - 3), count]) {
        const [plain, tallied] = await Promise.all(
          [false, true].map((isTallied) => listOf(filter, order, isTallied).readPage(offset, 7)),
        );
        assert.deepEqual(tallied, plain, JSON.stringify({ filter, offset, isNewestFirst: order === NEWEST_FIRST }));
      }
    }
  }

  async function readUntilTallied(): Promise<number> {
    for (let reads = 0, previous = -1; ; reads += 1) {
      const stored = await countTallies();
      if (stored === previous) {
        return reads;
      }
      previous = stored;
      await listOf({}, NEWEST_FIRST, true).readPage(0, 1);
    }
  }

  async function countTallies(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) FROM list_tally WHERE tenant_id = ${tenantId}
    `.execute(db);
    return rows[0]?.count ?? 0;
  }

  it('if a long list is read repeatedly, 6 to 14 reads store the order counts of each of its 40 days as tallies, even of days without orders', async () => {
    const reads = await readUntilTallied();
    assert.deepEqual([await countTallies(), reads > 5 && reads < 15], [DAYS, true], `${reads} reads`);
  });

  it('pages with tallies equal pages without them, for random filters, offsets and orders', async () => {
    await comparePages(60);
  });

  it('if an order is deleted, but not its tally, the count of the list stays the same, because it is the sum of tallies', async () => {
    const { count } = await listOf({ status: 'completed' }, NEWEST_FIRST, true).readPage(0, 1);
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM restaurant_order WHERE tenant_id = ${tenantId} AND status = 'completed' ORDER BY id DESC OFFSET 1000 LIMIT 1
    `.execute(db);
    await db
      .deleteFrom('restaurant_order')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', rows[0]?.id ?? '')
      .execute();
    assert.equal((await listOf({ status: 'completed' }, NEWEST_FIRST, true).readPage(0, 1)).count, count);
    await sql`DELETE FROM list_tally WHERE tenant_id = ${tenantId}`.execute(db);
    await readUntilTallied();
  });

  it('if open orders of any day get another status, the pages of the order list are the same with tallies (stored counts) as without tallies', async () => {
    for (let round = 0; round < 6; round += 1) {
      await sql`
        UPDATE restaurant_order SET status = ${random.pick(STATUSES)} WHERE tenant_id = ${tenantId} AND id IN (
          SELECT id FROM restaurant_order WHERE tenant_id = ${tenantId} AND status NOT IN ('completed', 'cancelled')
          ORDER BY md5(id || ${String(round)}) LIMIT 8
        )
      `.execute(db);
      await comparePages(6);
    }
  });

  it('if new orders arrive, the pages of the order list are the same with tallies (stored counts) as without tallies', async () => {
    await insertOrders(300, todayMs, Date.now());
    await comparePages(15);
  });

  it('if the oldest orders are removed, tallies (stored counts) of days before the oldest remaining order are deleted, and list pages are the same with and without tallies', async () => {
    for (const share of [0.01, 0.1, 0.3]) {
      await sql`
        DELETE FROM restaurant_order WHERE tenant_id = ${tenantId} AND id < (
          SELECT id FROM restaurant_order WHERE tenant_id = ${tenantId} ORDER BY id
          OFFSET (SELECT (count(*) * ${share}::float8)::int FROM restaurant_order WHERE tenant_id = ${tenantId}) LIMIT 1
        )
      `.execute(db);
      await comparePages(15);
    }
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) FROM list_tally WHERE tenant_id = ${tenantId}
        AND before_id < (SELECT id FROM restaurant_order WHERE tenant_id = ${tenantId} ORDER BY id LIMIT 1)
    `.execute(db);
    assert.equal(rows[0]?.count, 0);
  });

  it('if an order list has no tallies (stored counts) yet, and fewer orders than the minimum of 600 in this test, reads of its pages store no tally', async () => {
    await sql`DELETE FROM list_tally`.execute(db);
    await sql`DELETE FROM restaurant_order WHERE tenant_id = ${tenantId} AND id < ${firstIdAt(todayMs - 3 * DAY_MS)}::uuid`.execute(
      db,
    );
    await comparePages(5);
    assert.equal(await countTallies(), 0);
  });
});
