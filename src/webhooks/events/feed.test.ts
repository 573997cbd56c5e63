import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { EVENTS, eventOf, insertEvents, readEvents, readToEnd } from '#test/support/feed.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, listDeliveries, moveOrder, onlyDelivery, placeOrder, register } from '#test/support/webhooks.ts';

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
before(async () => {
  service = await startService({ worker: { drawWaitMs: () => 0 }, config: { rateLimitPerMinute: 100_000 } });
  receiver = await startReceiver();
});
beforeEach(async () => {
  tenant = await service.tenant();
});
after(async () => {
  await service.close();
  await receiver.close();
});

const insert = (count: number, changes = {}) =>
  insertEvents(
    service.database.db,
    Array.from({ length: count }, () => eventOf(tenant, changes)),
  );

describe('200: an entry', () => {
  it('has exactly its fields, and no delivery where no webhook was registered when it happened', async () => {
    const { orderId, externalId } = await causeEvent(service, tenant);
    await register(service, tenant.partner, receiver.url);
    const answer = await service.call('GET', EVENTS, { headers: tenant.partner });
    const [entry] = answer.body.results;
    const expected = {
      results: [
        {
          cursor: '1',
          event: 'order.status_changed',
          event_id: entry.event_id,
          occurred_at: entry.occurred_at,
          data: { order_id: orderId, external_order_id: externalId, status: 'confirmed' },
          delivery: null,
        },
      ],
      next: '1',
    };
    assert.equal(answer.text, JSON.stringify(expected));
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  });

  it('tells of the delivery as staff see it: delivered at once, or failed after five attempts', async () => {
    const answers = [500, 503, 302, 404, 500];
    for (const [status, answer] of [
      ['delivered', () => 204],
      ['failed', () => answers.shift() ?? 204],
    ] as const) {
      const mine = await service.tenant();
      receiver.answerWith(answer);
      await register(service, mine.partner, receiver.url);
      await causeEvent(service, mine);
      const delivery = await onlyDelivery(service, mine, status);
      const { results } = await readEvents(service, mine.partner);
      assert.deepEqual(
        results.map((entry) => [entry.event_id, entry.delivery]),
        [[delivery.id, { status, attempts: delivery.attempts }]],
      );
      assert.equal(delivery.attempts.length, status === 'failed' ? 5 : 1);
    }
    receiver.answerWith(() => 204);
  });

  it('holds the signed body byte for byte, of whatever script the external id is', async () => {
    await register(service, tenant.partner, receiver.url);
    const externalIds = ['"quoted" \\ back/slash', 'Ü 🏨 中文', '\u2028\u0001\t<script>', '{"a":1.0}'];
    for (const externalId of externalIds) {
      const { orderId } = await placeOrder(service, tenant.partner, externalId);
      await moveOrder(service, tenant, orderId, 'confirmed');
    }
    const { text, body: page } = await service.call('GET', EVENTS, { headers: tenant.partner });
    assert.equal(page.results.length, externalIds.length);
    for (const { event, event_id, occurred_at, data } of page.results) {
      const [request] = await bodiesOf(event_id);
      assert.equal(JSON.stringify({ event, event_id, occurred_at, data }), request);
      assert.ok(text.includes(request?.slice(1, -1) ?? 'nothing came'), 'also as it stands in the answer');
    }
  });

  async function bodiesOf(eventId: string): Promise<string[]> {
    for (;;) {
      const found = receiver.requests.filter(({ headers }) => headers['x-service-event-id'] === eventId);
      if (found.length > 0) return found.map(({ rawBody }) => rawBody.toString('utf8'));
      await receiver.waitFor(receiver.requests.length + 1);
    }
  }
});

describe('200: a page', () => {
  it('holds the oldest first, as many as asked for, 50 where nothing is asked', async () => {
    const ids = await insert(203);
    const idsOf = async (query: string) =>
      (await readEvents(service, tenant.partner, query)).results.map((entry) => entry.event_id);
    assert.deepEqual(await idsOf('?limit=1'), ids.slice(0, 1));
    assert.deepEqual(await idsOf('?limit=7'), ids.slice(0, 7));
    assert.deepEqual(await idsOf(''), ids.slice(0, 50));
    assert.deepEqual(await idsOf('?limit=200'), ids.slice(0, 200));
    assert.deepEqual(await idsOf('?after=&limit=50'), ids.slice(0, 50));
    assert.deepEqual(await idsOf('?after=0&limit=50'), ids.slice(0, 50));
  });

  it('leads to the next by its last cursor; where there is nothing new, to the same place again', async () => {
    assert.deepEqual(await readEvents(service, tenant.partner), { results: [], next: '' });
    const ids = await insert(5);
    const first = await readEvents(service, tenant.partner, '?after=&limit=3');
    assert.equal(first.next, first.results[2]?.cursor);
    const second = await readEvents(service, tenant.partner, `?after=${first.next}&limit=3`);
    assert.deepEqual(
      [...first.results, ...second.results].map((entry) => entry.event_id),
      ids,
    );
    const end = { results: [], next: second.next };
    assert.deepEqual(await readEvents(service, tenant.partner, `?after=${second.next}`), end);
    const [late] = await insert(1);
    const third = await readEvents(service, tenant.partner, `?after=${second.next}`);
    assert.deepEqual(third.results[0]?.event_id, late);
    assert.deepEqual((await readToEnd(service, tenant.partner)).ids, [...ids, late], 'and from the start all of it');
  });

  it('after a cursor whose events were removed holds what comes after it', async () => {
    const ids = await insert(6);
    const { all } = await readToEnd(service, tenant.partner);
    await service.database.db
      .deleteFrom('event')
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', 'in', ids.slice(0, 4))
      .execute();
    for (const cursor of ['', '0', all[0]?.cursor, all[3]?.cursor]) {
      assert.deepEqual((await readToEnd(service, tenant.partner, cursor)).ids, ids.slice(4));
    }
    const [later] = await insert(1);
    assert.deepEqual((await readToEnd(service, tenant.partner, '6')).ids, [later], 'numbered on from the last');
  });

  it('holds the events of the credential alone, whoever’s cursor is given', async () => {
    const own = await insert(3);
    const [other, stranger] = [await service.credential(tenant.tenantId), await service.tenant()];
    const others = await insert(4, { credential_id: other.credential.id });
    const strangers = await insertEvents(service.database.db, [eventOf(stranger), eventOf(stranger)]);
    for (const [partner, ids] of [
      [tenant.partner, own],
      [other.partner, others],
      [stranger.partner, strangers],
    ] as const) {
      assert.deepEqual((await readToEnd(service, partner)).ids, ids);
      assert.deepEqual((await readToEnd(service, partner, '2')).ids, ids.slice(2));
    }
  });

  it('is open to the credential of any module', async () => {
    const hotel = await service.tenant({ features: ['hotel'] });
    assert.deepEqual(await readEvents(service, hotel.partner), { results: [], next: '' });
  });

  it('changes no delivery and sends nothing again', async () => {
    await register(service, tenant.partner, receiver.url);
    await causeEvent(service, tenant);
    await onlyDelivery(service, tenant, 'delivered');
    const [deliveries, count] = [await listDeliveries(service, tenant), receiver.requests.length];
    await readToEnd(service, tenant.partner);
    await readToEnd(service, tenant.partner);
    assert.deepEqual(await listDeliveries(service, tenant), deliveries);
    assert.equal(receiver.requests.length, count);
  });
});

describe('200: after=latest', () => {
  const latest = async (partner = tenant.partner) => await readEvents(service, partner, '?after=latest');

  it('shows no event, and leads to those that happen from then on', async () => {
    assert.deepEqual(await latest(), { results: [], next: '0' });
    const early = await insert(3);
    const end = await latest();
    assert.deepEqual(end, { results: [], next: '3' });
    assert.deepEqual(await latest(), end, 'the same again');
    const late = await insert(2);
    assert.deepEqual((await readToEnd(service, tenant.partner, end.next)).ids, late);
    assert.deepEqual((await readToEnd(service, tenant.partner)).ids, [...early, ...late], 'and nothing is lost by it');
  });

  it('goes past all that was never read, however much it is', async () => {
    const early = await insert(2_001);
    await readEvents(service, tenant.partner, '?limit=7');
    const { next } = await latest();
    assert.equal(next, '2001');
    assert.deepEqual((await readEvents(service, tenant.partner, `?after=${next}`)).results, []);
    const [late] = await insert(1);
    assert.deepEqual((await readToEnd(service, tenant.partner, next)).ids, [late]);
    assert.deepEqual((await readToEnd(service, tenant.partner, '', 200)).ids, [...early, late]);
  });

  it('is the end of the credential’s own feed', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    await insert(3);
    assert.equal((await latest(partner)).next, '0');
    assert.equal((await latest()).next, '3');
  });
});

describe('200: headers', () => {
  it('name the brand of the header names of deliveries', async () => {
    const branded = await startService({ beside: service, config: { webhookHeaderBrand: 'Harbour-House' } });
    for (const [node, brand] of [
      [service, 'Service'],
      [branded, 'Harbour-House'],
    ] as const) {
      for (const query of ['', '?after=latest']) {
        const answer = await node.call('GET', EVENTS + query, { headers: tenant.partner });
        assert.equal(answer.headers.get('x-webhook-header-brand'), brand);
      }
    }
    await branded.close();
  });
});

describe('400', () => {
  it('names the field that is no cursor or no limit', async () => {
    for (const [query, field] of [
      ['?after=x', 'after'],
      ['?after=latest1', 'after'],
      ['?after=Latest', 'after'],
      ['?after=-1', 'after'],
      ['?after=1.5', 'after'],
      ['?after=%201', 'after'],
      ['?after=1%0A', 'after'],
      ['?after=1e3', 'after'],
      ['?after=1&after=2', 'after'],
      ['?after=1000000000000000', 'after'],
      ['?after=1-', 'after'],
      ['?after=-', 'after'],
      ['?after=1-2-3', 'after'],
      ['?after=1-latest', 'after'],
      ['?after=1000000000000000-1', 'after'],
      ['?limit=0', 'limit'],
      ['?limit=201', 'limit'],
      ['?limit=', 'limit'],
      ['?limit=ten', 'limit'],
    ] as const) {
      const faults = faultsOf(await service.call('GET', EVENTS + query, { headers: tenant.partner }));
      assert.deepEqual([faults.length, faults[0]?.split(':')[0]], [1, field], `${query}: ${faults[0]}`);
    }
  });
});

describe('401', () => {
  it('to everyone but an active credential', async () => {
    for (const headers of [{}, tenant.owner, { ...tenant.partner, 'x-api-secret': 'x' }]) {
      assertError(await service.call('GET', EVENTS, { headers }), 401, 'invalid_credentials');
    }
  });
});
