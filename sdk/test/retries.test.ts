import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import fc from 'fast-check';
import { dayAhead, sellable } from '../../test/support/hotel.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { type Roomservice, RoomserviceError } from '../src/index.ts';
import { parseRetryAfter, retryWaitMs } from '../src/retry.ts';
import { type Front, startFront } from './front.ts';
import { collect, failureOf, type House, openHouse, water } from './house.ts';

const UNAVAILABLE = { status: 503, body: '{"message":"away for a moment"}' };

let service: TestService;
let front: Front;
let house: House;
let roomservice: Roomservice;

before(async () => {
  service = await startService();
  front = await startFront(service.url);
  house = await openHouse(service);
  roomservice = house.client({ baseUrl: front.url });
  // The waits are drawn from 0 up: this draws the shortest, where a test does not say otherwise.
  mock.method(Math, 'random', () => 0);
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

describe('a call that failed for a passing reason', () => {
  for (const fault of [UNAVAILABLE, { status: 500 }, { status: 502, body: '<html>' }, 'cut', 'lose'] as const) {
    test(`is sent again after ${JSON.stringify(fault)}`, async () => {
      front.failNext(fault, fault, fault);
      assert.equal((await roomservice.menu.list()).length, 2);
      assert.equal(front.requests.length, 4);
    });
  }

  test('is given up after as many retries as allowed, and says how often it was tried', async () => {
    front.failNext(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE);
    const error = await failureOf(roomservice.menu.list());
    assert.deepEqual([error.status, error.code, error.attempts], [503, 'server_error', 4]);
    assert.equal(error.message, 'away for a moment');
    front.failNext('cut', 'cut');
    const cut = await failureOf(roomservice.menu.list({ maxRetries: 1 }));
    assert.deepEqual([cut.status, cut.code, cut.attempts], [null, 'connection_failed', 2]);
  });

  test('is not sent again where retries are turned off', async () => {
    front.failNext(UNAVAILABLE);
    await failureOf(house.client({ baseUrl: front.url, maxRetries: 0 }).menu.list());
    assert.equal(front.requests.length, 1);
  });

  test('is sent again after a service that is not there, which is connection_failed in the end', async () => {
    const nowhere = house.client({ baseUrl: 'http://127.0.0.1:1', maxRetries: 2 });
    const error = await failureOf(nowhere.menu.list());
    assert.deepEqual([error.code, error.attempts], ['connection_failed', 3]);
    assert.match(error.message, /ECONNREFUSED|bad port/);
  });

  test('is not sent again after a refusal', async () => {
    const error = await failureOf(roomservice.orders.get('none'));
    assert.deepEqual([error.attempts, front.requests.length], [1, 1]);
  });

  test('goes on in the middle of a list', async () => {
    const other = (await openHouse(service)).client({ baseUrl: front.url });
    for (let count = 0; count < 3; count += 1) {
      await other.orders.create(water());
    }
    const list = other.orders.list({ page_size: 2 });
    await list.next();
    front.failNext(UNAVAILABLE, 'lose');
    assert.equal((await collect(list)).length, 2);
  });
});

describe('what is sent again happens once', () => {
  test('an order whose answer was lost', async () => {
    const order = water();
    front.failNext('lose');
    const placed = await roomservice.orders.create(order);
    assert.equal(placed.isReplayed, true);
    const all = await collect(roomservice.orders.list());
    assert.equal(all.filter(({ external_order_id: id }) => id === order.external_order_id).length, 1);
  });

  test('a stay whose answer was lost takes its nights once', async () => {
    const nights = { room_type_id: house.roomTypes['Double'] ?? '', check_in: dayAhead(40), check_out: dayAhead(41) };
    front.failNext('lose', UNAVAILABLE, 'lose');
    const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
    await roomservice.reservations.create({ external_reservation_id: 'lost', ...nights, guest });
    assert.deepEqual(await sellable(service, house, nights.room_type_id, nights.check_in, nights.check_out), [2]);
  });

  test('a cancel whose answer was lost succeeds', async () => {
    const order = water();
    await roomservice.orders.create(order);
    front.failNext('lose');
    assert.equal((await roomservice.orders.cancel(order.external_order_id)).status, 'cancelled');
  });

  test('a repeated cancel of what was completed meanwhile is refused', async () => {
    const placed = await roomservice.orders.create(water());
    const path = `/v1/staff/orders/${placed.order_id}/status/`;
    await service.call('POST', path, { headers: house.staff, json: { status: 'completed' } });
    front.failNext(UNAVAILABLE);
    const error = await failureOf(roomservice.orders.cancel(placed.external_order_id));
    assert.deepEqual([error.code, error.attempts], ['invalid_status_transition', 2]);
  });

  test('a registration is not: the secret of a lost answer would be lost in silence', async () => {
    front.failNext('lose');
    const error = await failureOf(roomservice.webhook.register({ webhook_url: 'https://127.0.0.1:9/lost' }));
    assert.deepEqual([error.code, front.requests.length], ['connection_failed', 1]);
    front.failNext({ status: 429, headers: { 'retry-after': '0' } });
    const other = await roomservice.webhook.register({ webhook_url: 'https://127.0.0.1:9/lost?v=2' });
    assert.match(other.webhook_secret, /.{20,}/);
  });
});

describe('timeouts and giving up', () => {
  test('an attempt that takes too long is ended and sent again', async () => {
    front.failNext('hang', 'hang');
    assert.equal((await roomservice.menu.list({ timeoutMs: 300 })).length, 2);
    assert.equal(front.requests.length, 3);
  });

  test('the last one is a timeout', async () => {
    front.failNext('hang', 'hang');
    const error = await failureOf(roomservice.menu.list({ timeoutMs: 100, maxRetries: 1 }));
    assert.deepEqual([error.status, error.code, error.attempts], [null, 'timeout', 2]);
  });

  test('a signal ends a call under way, and one that waits for its next attempt, with its own reason', async () => {
    const reason = new Error('the guest went home');
    for (const fault of ['hang', { status: 429, headers: { 'retry-after': '30' } }] as const) {
      const giving = new AbortController();
      front.failNext(fault);
      // The one that hangs has no attempt left, so that nothing but the signal is there to be told of.
      const call = roomservice.menu.list({ signal: giving.signal, maxRetries: fault === 'hang' ? 0 : 1 });
      setTimeout(() => giving.abort(reason), 100);
      await assert.rejects(call, reason);
    }
    assert.equal(front.requests.length, 2);
    await assert.rejects(roomservice.menu.list({ signal: AbortSignal.abort(reason) }), reason);
    assert.equal(front.requests.length, 2);
  });

  test('a limit that makes no sense is refused', async () => {
    for (const limits of [{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { timeoutMs: 2 ** 31 }, { maxRetries: -1 }]) {
      await assert.rejects(roomservice.menu.list(limits), { name: 'TypeError' });
      assert.throws(() => house.client(limits), { name: 'TypeError' });
    }
  });
});

describe('waits', () => {
  const failed = (status: number, attempts: number, retryAfterSeconds: number | null = null) =>
    new RoomserviceError('', { code: 'server_error', status, attempts, retryAfterSeconds });

  test('Retry-After is honoured', async () => {
    front.failNext({ status: 429, headers: { 'retry-after': '1' }, body: '{"code":"rate_limited","message":"later"}' });
    const startedAt = performance.now();
    await roomservice.menu.list();
    assert.ok(performance.now() - startedAt >= 1_000);
  });

  test('one that asks for more than a window of the budget is told at once', async () => {
    front.failNext({ status: 503, headers: { 'retry-after': '3600' } });
    const error = await failureOf(roomservice.menu.list({ signal: AbortSignal.timeout(10_000) }));
    assert.deepEqual([error.retryAfterSeconds, error.attempts], [3600, 1]);
  });

  test('429: the service itself tells when to come back', async () => {
    const strict = await startService({ config: { rateLimitPerMinute: 1 } });
    try {
      const client = (await openHouse(strict)).client({ maxRetries: 0 });
      await client.menu.list();
      const error = await failureOf(client.menu.list());
      assert.deepEqual([error.status, error.code], [429, 'rate_limited']);
      assert.ok((error.retryAfterSeconds ?? 0) > 50);
    } finally {
      await strict.close();
    }
  });

  test('grow twofold from half a second, to eight at most, and are drawn from 0 up', () => {
    mock.method(Math, 'random', () => 1);
    const waits = [1, 2, 3, 4, 5, 6, 40].map((attempts) => retryWaitMs(failed(500, attempts), 'always'));
    assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    assert.equal(retryWaitMs(failed(429, 1, 10), 'if_refused'), 10_500);
    mock.method(Math, 'random', () => 0);
    assert.equal(retryWaitMs(failed(500, 3), 'always'), 0);
  });

  test('are for 429 and 5xx alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), (status) => {
        const isAgain = retryWaitMs(failed(status, 1), 'always') !== null;
        return isAgain === (status === 429 || status >= 500);
      }),
    );
  });

  test('Retry-After may be seconds or a date', () => {
    assert.equal(parseRetryAfter('7'), 7);
    const inTen = parseRetryAfter(new Date(Date.now() + 10_000).toUTCString()) ?? 0;
    assert.ok(inTen >= 9 && inTen <= 10, String(inTen));
    assert.equal(parseRetryAfter(new Date(0).toUTCString()), 0);
    assert.deepEqual([null, '', 'soon'].map(parseRetryAfter), [null, null, null]);
  });
});
