import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dumpRows, MENU, orderPath, place, setOrderStatus, within1s } from '#test/support/restaurant.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { entriesOf } from '#test/support/lists.ts';
import { RecentChanges } from '#platform/changes/changes.ts';
import { createRefuseIfClosed } from './opening.ts';

const PAUSE = '/v1/staff/pause/';
const HOURS = '/v1/staff/opening-hours/';
const OPEN = { is_open: true, until: null, reason: null, reopens_at: null };

const service = await useService();

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const pause = (of: TestTenant, json: object = {}, on = service) => on.call('POST', PAUSE, { headers: of.staff, json });
const resume = (of: TestTenant, on = service) => on.call('DELETE', PAUSE, { headers: of.staff });
const state = (of: TestTenant, on = service) => on.call('GET', PAUSE, { headers: of.staff });
const putHours = (of: TestTenant, hours: unknown, headers = of.owner) =>
  service.call('PUT', HOURS, { headers, json: { hours } });

/**
 * Returns opening hours that begin 12 hours from now and last one hour, in UTC. So a restaurant in UTC is closed now. `opensAtMs` is the
 * time of the opening in milliseconds of Unix time.
 */
function closedNow(): { hours: object[]; opensAtMs: number } {
  const opensAtMs = Math.floor(Date.now() / 60_000) * 60_000 + 12 * 3_600_000;
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const weekday = new Date(opensAtMs).getUTCDay() || 7;
  return { hours: [{ weekday, opens: clock(opensAtMs), closes: clock(opensAtMs + 3_600_000) }], opensAtMs };
}

/**
 * Starts a pause of about a second, and places an order in this pause. On a slow machine, the response to the order may arrive only after
 * the end of the pause. Such a response proves nothing, so the function then starts a longer pause.
 * @returns the end of the pause, the response to the order, and the length of the pause in seconds
 */
async function orderInShortPause(tenant: TestTenant) {
  for (let seconds = 1; seconds <= 64; seconds *= 4) {
    const until = inMs(seconds * 1_000);
    const started = await pause(tenant, { until });
    const answer = await place(service, tenant);
    if (Date.now() < Date.parse(until)) {
      assert.deepEqual([started.status, started.body.reopens_at], [200, until]);
      return { until, answer, latestSeconds: seconds };
    }
  }
  assert.fail('no order got its response in a pause of a minute');
}

/** Asserts that a new order is refused. @returns the header `Retry-After` in seconds, or null if the response does not have it */
async function assertClosed(tenant: TestTenant, on = service): Promise<number | null> {
  const answer = await place(on, tenant);
  assertError(answer, 409, 'restaurant_closed');
  const seconds = answer.headers.get('retry-after');
  return seconds === null ? null : Number(seconds);
}

describe('POST, GET and DELETE /v1/staff/pause/', () => {
  it('200: without a pause and without opening hours, the restaurant is open', async () => {
    const tenant = await service.tenant();
    assert.deepEqual((await state(tenant)).body, OPEN);
    assert.deepEqual((await resume(tenant)).body, OPEN);
    assert.equal((await place(service, tenant)).status, 201);
  });

  it('200: a pause without an end time has a null reopens_at; 409: until staff end the pause, orders are refused, and the response has no Retry-After', async () => {
    const tenant = await service.tenant();
    const started = await pause(tenant, { reason: 'The oven is broken: 31 °C' });
    const expected = { is_open: false, until: null, reason: 'The oven is broken: 31 °C', reopens_at: null };
    assert.deepEqual([started.status, started.body, (await state(tenant)).body], [200, expected, expected]);
    assert.equal(await assertClosed(tenant), null);
    assert.deepEqual((await resume(tenant)).body, OPEN);
    assert.equal((await place(service, tenant)).status, 201);
  });

  it('200: a pause can be started without a body, with an empty JSON object and with an empty form', async () => {
    const tenant = await service.tenant();
    for (const options of [{}, { json: {} }, { body: new URLSearchParams() }]) {
      const answer = await service.call('POST', PAUSE, { headers: tenant.staff, ...options });
      assert.deepEqual([answer.status, answer.body.is_open], [200, false], answer.text);
    }
  });

  it('409: during a pause with an end, Retry-After has the seconds until the end; 201: after the end, orders are taken', async () => {
    const tenant = await service.tenant();
    const { until, answer, latestSeconds } = await orderInShortPause(tenant);
    assertError(answer, 409, 'restaurant_closed');
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= latestSeconds, `${seconds} s`);
    await sleep(Date.parse(until) - Date.now() + 20);
    assert.deepEqual((await state(tenant)).body, OPEN);
    assert.equal((await place(service, tenant)).status, 201);
  });

  it('200: a second pause replaces the first one', async () => {
    const tenant = await service.tenant();
    await pause(tenant, { until: inMs(60_000), reason: 'first' });
    const until = inMs(3_600_000);
    assert.deepEqual((await pause(tenant, { until })).body, { is_open: false, until, reason: null, reopens_at: until });
    assert.ok(((await assertClosed(tenant)) ?? 0) > 3_500);
  });

  it('200: in a pause, the menu can be read, and stored orders can be read and changed; 409: a valid new order is refused', async () => {
    const tenant = await service.tenant();
    const { body: order } = await place(service, tenant);
    const { external_order_id } = order;
    await pause(tenant, { reason: 'secret reason' });
    faultsOf(await place(service, tenant, { external_order_id, items: [] }));
    const replay = await place(service, tenant, { external_order_id, items: [{ item_id: 'GONE', quantity: 1 }] });
    assert.deepEqual([replay.status, replay.body, replay.headers.get('idempotent-replayed')], [200, order, 'true']);
    assertError(await place(service, tenant, { items: [{ item_id: 'GONE', quantity: 1 }] }), 400, 'item_not_found');
    const refused = await place(service, tenant);
    assert.doesNotMatch(assertError(refused, 409, 'restaurant_closed'), /secret/);
    const path = orderPath(external_order_id);
    assert.equal((await service.call('GET', path, { headers: tenant.partner })).status, 200);
    assert.equal((await service.call('GET', MENU, { headers: tenant.partner })).status, 200);
    assert.equal((await setOrderStatus(service, tenant, order.order_id, 'ready')).status, 200);
    const cancel = await service.call('POST', `${path}cancel/`, { headers: tenant.partner });
    assert.equal(cancel.status, 200);
  });

  it('409: during a pause, an order is refused, and no order or event is stored; 201: after the pause, an order with the same external_order_id is accepted', async () => {
    const tenant = await service.tenant();
    await pause(tenant);
    const rows = await dumpRows(service, 'restaurant_order', 'event');
    assertError(await place(service, tenant, { external_order_id: 'later' }), 409, 'restaurant_closed');
    assert.deepEqual(await dumpRows(service, 'restaurant_order', 'event'), rows);
    await resume(tenant);
    assert.equal((await place(service, tenant, { external_order_id: 'later' })).status, 201);
  });

  it('409: during a pause, orders of the tenant are refused; 201: orders of another tenant are accepted', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()];
    await pause(tenant);
    await assertClosed(tenant);
    assert.equal((await place(service, other)).status, 201);
    assert.deepEqual((await state(other)).body, OPEN);
  });

  it('400: a pause is refused if its end is not in the future', async () => {
    const tenant = await service.tenant();
    const rows = await dumpRows(service, 'opening', 'audit_entry');
    for (const until of [inMs(-1), '2020-01-01T00:00:00Z']) {
      assert.match(faultsOf(await pause(tenant, { until }))[0] ?? '', /^until: /, until);
    }
    assert.deepEqual(await dumpRows(service, 'opening', 'audit_entry'), rows);
  });

  it('the audit trail has each start and end of a pause with the actor, and no entry for an end without a pause', async () => {
    const tenant = await service.tenant();
    const until = inMs(60_000);
    await pause(tenant, { until, reason: 'oven' });
    await resume(tenant);
    await resume(tenant);
    const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    const entries = body.filter(({ action }: { action: string }) => action.startsWith('pause.'));
    const shown = entries.map(({ action, subject, details }: Record<string, unknown>) => [action, subject, details]);
    const subject = String(tenant.tenantId);
    assert.deepEqual(shown, [
      ['pause.ended', subject, {}],
      ['pause.started', subject, { until, reason: 'oven' }],
    ]);
    assert.equal(entries[0].actor.type, 'user');
  });
});

describe('GET and PUT /v1/staff/opening-hours/', () => {
  it('200: the owner replaces the opening hours, and staff read them; 409: outside the hours, an order gets Retry-After until the opening', async () => {
    const tenant = await service.tenant({ timezone: 'UTC' });
    assert.deepEqual((await service.call('GET', HOURS, { headers: tenant.staff })).body, { hours: [] });
    const { hours, opensAtMs } = closedNow();
    const answer = await putHours(
      tenant,
      hours.map((time) => ({ ...time, unknown: 1 })),
    );
    assert.deepEqual([answer.status, answer.body], [200, { hours }]);
    assert.deepEqual((await service.call('GET', HOURS, { headers: tenant.staff })).body, { hours });
    const secondsLeft = () => (opensAtMs - Date.now()) / 1_000;
    const atMost = secondsLeft() + 1;
    const seconds = (await assertClosed(tenant)) ?? 0;
    assert.ok(seconds <= atMost && seconds >= secondsLeft(), `${seconds} s, ${atMost} s`);
    const reopens_at = new Date(opensAtMs).toISOString();
    assert.deepEqual((await state(tenant)).body, { is_open: false, until: null, reason: null, reopens_at });
    assert.deepEqual((await putHours(tenant, [])).body, { hours: [] });
    assert.equal((await place(service, tenant)).status, 201);
  });

  it('201: the opening hours apply in the time zone of the tenant, even after a tenant document has changed the zone', async () => {
    const tenant = await service.tenant({ timezone: 'UTC' });
    const { hours } = closedNow();
    await putHours(tenant, hours);
    await assertClosed(tenant);
    // The opening hours are local times. They begin at the time that a clock in UTC shows in 12 hours. A clock in Tarawa is 12 hours ahead
    // of UTC, so it shows this time now. So in the time zone of Tarawa, the opening hours begin now.
    await service.apply({ ...tenant.document, timezone: 'Pacific/Tarawa' });
    assert.equal((await place(service, tenant)).status, 201);
  });

  it('200: a PUT of the stored opening hours writes no row', async () => {
    const tenant = await service.tenant();
    const hours = [{ weekday: 1, opens: '18:00', closes: '02:00' }];
    await putHours(tenant, hours);
    const rows = await dumpRows(service, 'opening', 'audit_entry', 'recent_change');
    assert.equal((await putHours(tenant, hours)).status, 200);
    assert.deepEqual(await dumpRows(service, 'opening', 'audit_entry', 'recent_change'), rows);
  });

  it('a change of the opening hours writes an audit entry with the new hours', async () => {
    const tenant = await service.tenant();
    const hours = [{ weekday: 7, opens: '18:00', closes: '02:00' }];
    await putHours(tenant, hours);
    const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    assert.deepEqual([body[0].action, body[0].details], ['opening_hours.changed', { hours }]);
  });
});

describe('opening on several nodes', () => {
  it('a pause and its end take effect on the other node within a second', async () => {
    const other = await startService({ beside: service, config: { rateLimitPerMinute: 1_000_000 } });
    try {
      const tenant = await service.tenant();
      assert.equal((await place(other, tenant)).status, 201);
      for (const [change, status] of [
        [() => pause(tenant), 409],
        [() => resume(tenant), 201],
      ] as const) {
        assert.equal((await change()).status, 200);
        await within1s(async () => (await place(other, tenant)).status === status);
      }
    } finally {
      await other.close();
    }
  });

  it('the first call of refuseIfClosed reads the opening hours from the database, and the next two calls use the cached ones', async (t) => {
    const { tenantId } = await service.tenant();
    // The lease of the cache ends half a second after a poll. The mocked clock stands still, so the lease does not end on a slow machine.
    const nowMs = performance.now();
    t.mock.method(performance, 'now', () => nowMs);
    const { db, statementsOf } = openRecorded(service.database.url, 2);
    const changes = new RecentChanges(db, pino({ level: 'silent' }));
    try {
      changes.start();
      await changes.catchUp();
      const refuseIfClosed = createRefuseIfClosed({ db, caches: changes });
      const reads = async () => {
        const statements = await statementsOf(() => refuseIfClosed(tenantId));
        return statements.filter((statement) => statement.includes('"opening"')).length;
      };
      assert.deepEqual([await reads(), await reads(), await reads()], [1, 0, 0]);
    } finally {
      await changes.close();
      await db.destroy();
    }
  });
});
