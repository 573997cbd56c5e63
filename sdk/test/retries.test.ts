import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { dayAhead, sellable } from '../../test/support/hotel.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { eventually } from '../../test/support/webhooks.ts';
import { type Roomservice, RoomserviceError } from '../src/index.ts';
import { parseRetryAfter, retryWaitMs } from '../src/retry.ts';
import { type Front, startFaultProxy } from './front.ts';
import { collect, failureOf, type PartnerTenant, openPartnerTenant, water } from './partner-tenant.ts';

const UNAVAILABLE = { status: 503, body: '{"message":"away for a moment"}' };

let service: TestService;
let front: Front;
let tenant: PartnerTenant;
let roomservice: Roomservice;
/** Result of `Math.random`. Before each retry, the SDK waits for a random time. With 0, that time is 0 ms. */
let random = 0;

before(async () => {
  service = await startService();
  front = await startFaultProxy(service.url);
  tenant = await openPartnerTenant(service);
  roomservice = tenant.client({ baseUrl: front.url });
  mock.method(Math, 'random', () => random);
});

beforeEach(() => {
  front.failNext();
  front.requests.length = 0;
});

after(async () => {
  mock.restoreAll();
  await front.close();
  await service.close();
});

describe('retries after temporary failures', () => {
  for (const fault of [UNAVAILABLE, { status: 500 }, { status: 502, body: '<html>' }, 'cut', 'lose'] as const) {
    test(`a call succeeds at its fourth attempt if the first three attempts end with the fault ${JSON.stringify(fault)}`, async () => {
      front.failNext(fault, fault, fault);
      assert.equal((await roomservice.menu.list()).length, 2);
      assert.equal(front.requests.length, 4);
    });
  }

  test('a call fails after the number of retries that the client or the call allows, and its error says why and has the number of attempts', async () => {
    front.failNext(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE);
    const error = await failureOf(roomservice.menu.list());
    assert.deepEqual([error.status, error.code, error.attempts], [503, 'server_error', 4]);
    assert.equal(error.message, 'away for a moment');
    front.failNext('cut', 'cut');
    const cut = await failureOf(roomservice.menu.list({ maxRetries: 1 }));
    assert.deepEqual([cut.status, cut.code, cut.attempts], [null, 'connection_failed', 2]);
    front.failNext('hang', 'hang');
    const late = await failureOf(roomservice.menu.list({ timeoutMs: 100, maxRetries: 1 }));
    assert.deepEqual([late.status, late.code, late.attempts], [null, 'timeout', 2]);
    const unreachable = tenant.client({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
    const refused = await failureOf(unreachable.menu.list());
    assert.deepEqual([refused.code, refused.attempts], ['connection_failed', 1]);
    assert.match(refused.message, /ECONNREFUSED|bad port/);
  });

  test('a list is read to its end even if a request for its second page fails and the response to the next request is lost', async () => {
    const other = (await openPartnerTenant(service)).client({ baseUrl: front.url });
    for (let count = 0; count < 3; count += 1) {
      await other.orders.create(water());
    }
    const list = other.orders.list({ page_size: 2 });
    await list.next();
    front.failNext(UNAVAILABLE, 'lose');
    assert.equal((await collect(list)).length, 2);
  });
});

describe('retried calls take effect only once', () => {
  test('an order is stored only once, even if the response to the first attempt is lost', async () => {
    const order = water();
    front.failNext('lose');
    const placed = await roomservice.orders.create(order);
    assert.equal(placed.isReplayed, true);
    const all = await collect(roomservice.orders.list());
    assert.equal(all.filter(({ external_order_id: id }) => id === order.external_order_id).length, 1);
  });

  test('a reservation takes only one room per night, even if the responses to its first attempts are lost', async () => {
    const nights = { room_type_id: tenant.roomTypes['Double'] ?? '', check_in: dayAhead(40), check_out: dayAhead(41) };
    front.failNext('lose', UNAVAILABLE, 'lose');
    const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
    await roomservice.reservations.create({ external_reservation_id: 'lost', ...nights, guest });
    assert.deepEqual(await sellable(service, tenant, nights.room_type_id, nights.check_in, nights.check_out), [2]);
  });

  test('cancelling an order succeeds if the response to the first attempt is lost', async () => {
    const order = water();
    await roomservice.orders.create(order);
    front.failNext('lose');
    assert.equal((await roomservice.orders.cancel(order.external_order_id)).status, 'cancelled');
  });

  test('a retried cancel fails with invalid_status_transition if the order is already completed', async () => {
    const placed = await roomservice.orders.create(water());
    const path = `/v1/staff/orders/${placed.order_id}/status/`;
    await service.call('POST', path, { headers: tenant.staff, json: { status: 'completed' } });
    front.failNext(UNAVAILABLE);
    const error = await failureOf(roomservice.orders.cancel(placed.external_order_id));
    assert.deepEqual([error.code, error.attempts], ['invalid_status_transition', 2]);
  });

  test('a webhook registration is retried after a 429 response, but not after a lost response', async () => {
    front.failNext('lose');
    const error = await failureOf(roomservice.webhook.register({ webhook_url: 'https://127.0.0.1:9/lost' }));
    assert.deepEqual([error.code, front.requests.length], ['connection_failed', 1]);
    front.failNext({ status: 429, headers: { 'retry-after': '0' } });
    const other = await roomservice.webhook.register({ webhook_url: 'https://127.0.0.1:9/lost?v=2' });
    assert.match(other.webhook_secret, /.{20,}/);
  });
});

describe('timeouts and abort signals', () => {
  /** Waits until the proxy has received the given number of requests since the test began. */
  const arrived = (count: number) => eventually(() => front.requests.length === count, `request ${count}`);

  test('an attempt that exceeds its time limit is aborted, and the call is retried', async (t) => {
    front.failNext('hang', 'hang');
    // Only the test advances the timers of the time limits. With the real clock, the limit of the third attempt could end too, if the
    // machine is busy.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const call = roomservice.menu.list({ timeoutMs: 300 });
    for (const count of [1, 2]) {
      await arrived(count);
      t.mock.timers.tick(300);
    }
    assert.equal((await call).length, 2);
    assert.equal(front.requests.length, 3);
  });

  test('a call throws the reason of its signal if the signal is aborted before the call, during an attempt or during the wait for a retry', async () => {
    const reason = new Error('the guest went home');
    for (const fault of ['hang', { status: 429, headers: { 'retry-after': '30' } }] as const) {
      const controller = new AbortController();
      front.failNext(fault);
      // The call with the fault `hang` has no retries. So the signal is aborted during its only attempt, and not during the wait for a
      // retry.
      const call = roomservice.menu.list({ signal: controller.signal, maxRetries: fault === 'hang' ? 0 : 1 });
      const rejection = assert.rejects(call, reason);
      await arrived(fault === 'hang' ? 1 : 2);
      // The client receives the response with the status 429 during this time.
      await sleep(100);
      controller.abort(reason);
      await rejection;
    }
    assert.equal(front.requests.length, 2);
    await assert.rejects(roomservice.menu.list({ signal: AbortSignal.abort(reason) }), reason);
    assert.equal(front.requests.length, 2);
  });

  test('a call or a client with a time limit or a number of retries that is out of range fails with a TypeError', async () => {
    for (const limits of [{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { timeoutMs: 2 ** 31 }, { maxRetries: -1 }]) {
      await assert.rejects(roomservice.menu.list(limits), { name: 'TypeError' });
      assert.throws(() => tenant.client(limits), { name: 'TypeError' });
    }
  });
});

describe('waits between attempts', () => {
  const failed = (status: number, attempts: number, retryAfterSeconds: number | null = null) =>
    new RoomserviceError('', { code: 'server_error', status, attempts, retryAfterSeconds });

  test('429: the client waits at least as long as Retry-After says before it retries', async () => {
    front.failNext({ status: 429, headers: { 'retry-after': '1' }, body: '{"code":"rate_limited","message":"later"}' });
    const startedAt = performance.now();
    await roomservice.menu.list();
    assert.ok(performance.now() - startedAt >= 1_000);
    assert.equal(front.requests.length, 2);
  });

  test('503: a response with a Retry-After of more than 60 s is not retried, and the error has the value of Retry-After', async () => {
    front.failNext({ status: 503, headers: { 'retry-after': '3600' } });
    const error = await failureOf(roomservice.menu.list({ signal: AbortSignal.timeout(10_000) }));
    assert.deepEqual([error.retryAfterSeconds, error.attempts], [3600, 1]);
  });

  test('the upper limit of the random wait doubles with each attempt, from 0.5 s to at most 8 s, and the lower limit is 0', () => {
    random = 1;
    const waits = [1, 2, 3, 4, 5, 6, 40].map((attempts) => retryWaitMs(failed(500, attempts), 'always'));
    assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    assert.equal(retryWaitMs(failed(429, 1, 10), 'if_refused'), 10_500);
    random = 0;
    assert.equal(retryWaitMs(failed(500, 3), 'always'), 0);
  });

  test('a call is retried after a response with status 408 or 429 or with a status from 500 to 599, and after no other status', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), (status) => {
        const isRetried = retryWaitMs(failed(status, 1), 'always') !== null;
        return isRetried === (status === 408 || status === 429 || status >= 500);
      }),
    );
  });

  test('Retry-After is read as a number of seconds or as a date, and any other value is ignored', (t) => {
    assert.equal(parseRetryAfter('7'), 7);
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1, 12, 0, 0, 250) });
    assert.equal(parseRetryAfter('Thu, 01 Jan 2026 12:00:10 GMT'), 10);
    assert.equal(parseRetryAfter(new Date(0).toUTCString()), 0);
    assert.deepEqual([null, '', 'soon'].map(parseRetryAfter), [null, null, null]);
  });
});
