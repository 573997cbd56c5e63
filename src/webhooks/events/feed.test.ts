import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
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

describe('entries of the event feed', () => {
  it('200: a feed entry has exactly the fields of the contract, and its field delivery is null if no webhook was registered', async () => {
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

  it('200: an entry of the feed shows the same status and attempts of its delivery as the staff API', async () => {
    const answers = [500, 503, 302, 404, 500];
    for (const [status, answer] of [
      ['delivered', () => 204],
      ['failed', () => answers.shift() ?? 204],
    ] as const) {
      const other = await service.tenant();
      receiver.answerWith(answer);
      await register(service, other.partner, receiver.url);
      await causeEvent(service, other);
      const delivery = await onlyDelivery(service, other, status);
      const { results } = await readEvents(service, other.partner);
      assert.deepEqual(
        results.map((entry) => [entry.event_id, entry.delivery]),
        [[delivery.id, { status, attempts: delivery.attempts }]],
      );
      assert.equal(delivery.attempts.length, status === 'failed' ? 5 : 1);
    }
    receiver.answerWith(() => 204);
  });

  it('200: the event in a feed entry has the bytes of the signed delivery body, even with control characters in an id', async () => {
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
      assert.ok(text.includes(request?.slice(1, -1) ?? 'no body'), 'the response contains the bytes of the body');
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

describe('pages of the event feed', () => {
  it('200: a page of the feed starts with the oldest event, and has at most `limit` events, or 50 if `limit` is missing', async () => {
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

  it('200: a page of the feed begins after the given cursor, and the `next` of an empty page is this cursor', async () => {
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
    assert.deepEqual(
      (await readToEnd(service, tenant.partner)).ids,
      [...ids, late],
      'a read from the start returns all events',
    );
  });

  it('200: if the event of a cursor was removed, a read from this cursor returns the later events that still exist', async () => {
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
    assert.deepEqual(
      (await readToEnd(service, tenant.partner, '6')).ids,
      [later],
      'the new event gets the next position',
    );
  });

  it('200: a page of the feed has only events of the calling credential, even if the cursor came from another credential', async () => {
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

  it('200: a tenant with only the hotel feature can read the event feed', async () => {
    const hotel = await service.tenant({ features: ['hotel'] });
    assert.deepEqual(await readEvents(service, hotel.partner), { results: [], next: '' });
  });

  it('200: reading the feed changes no delivery and sends no event again', async () => {
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

describe('after=latest in the event feed', () => {
  const latest = async (partner = tenant.partner) => await readEvents(service, partner, '?after=latest');

  it('200: after=latest skips 1,994 unread events and returns only a cursor, and a read from this cursor returns only later events', async () => {
    assert.deepEqual(await latest(), { results: [], next: '0' });
    const early = await insert(2_001);
    await readEvents(service, tenant.partner, '?limit=7');
    const end = await latest();
    assert.deepEqual(end, { results: [], next: '2001' });
    assert.deepEqual(await latest(), end, 'a second call returns the same cursor');
    const late = await insert(2);
    assert.deepEqual((await readToEnd(service, tenant.partner, end.next)).ids, late);
    assert.deepEqual(
      (await readToEnd(service, tenant.partner, '', 200)).ids,
      [...early, ...late],
      'all events, from the start',
    );
  });

  it('200: after=latest returns the end of the feed of the calling credential and not of another credential', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    await insert(3);
    assert.equal((await latest(partner)).next, '0');
    assert.equal((await latest()).next, '3');
  });
});

describe('headers of the event feed', () => {
  it('200: the response header X-Webhook-Header-Brand contains the configured brand', async () => {
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

describe('refused calls of the event feed', () => {
  it('400: an invalid cursor or limit of the feed is refused, and the message names the field', async () => {
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
