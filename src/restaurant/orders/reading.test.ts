import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { dumpRows, setOrderStatus, orderPath, ORDERS, place } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';

const { service, tenant } = await useRestaurant();

describe('GET /v1/third-party/orders/', () => {
  it('200, 404: a credential without orders gets an empty list and an empty first page, and gets 404 for page 2', async () => {
    const { partner: headers } = await service.credential(tenant.tenantId);
    const list = await service.call('GET', ORDERS, { headers });
    assert.deepEqual([list.status, list.text], [200, '[]']);
    const page = await service.call('GET', `${ORDERS}?page_size=1`, { headers });
    assert.deepEqual(page.body, { count: 0, next: null, previous: null, results: [] });
    assertError(await service.call('GET', `${ORDERS}?page=2`, { headers }), 404, 'error');
  });

  it('200: a credential gets a list of all its own orders and no other order, newest first, as an array or in pages', async () => {
    const own = await service.tenant();
    const sibling = await service.credential(own.tenantId);
    const placed = [];
    for (let count = 0; count < 5; count += 1) {
      placed.unshift((await place(service, own)).body);
      await place(service, sibling);
      await place(service, tenant);
    }
    await setOrderStatus(service, own, placed[0].order_id, 'preparing');
    placed[0] = { ...placed[0], status: 'preparing' };
    const list = await service.call('GET', ORDERS, { headers: own.partner });
    assert.match(list.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(list.body, placed);

    const pages = await Promise.all(
      [1, 2, 3].map((page) => service.call('GET', `${ORDERS}?page=${page}&page_size=2`, { headers: own.partner })),
    );
    assert.deepEqual(
      pages.flatMap((page) => page.body.results),
      placed,
    );
    assert.deepEqual(Object.keys(pages[0]?.body), ['count', 'next', 'previous', 'results']);
    assert.deepEqual(
      pages.map(({ body }) => [body.count, body.previous, body.next]),
      [
        [5, null, `${service.url}${ORDERS}?page=2&page_size=2`],
        [5, `${service.url}${ORDERS}?page=1&page_size=2`, `${service.url}${ORDERS}?page=3&page_size=2`],
        [5, `${service.url}${ORDERS}?page=2&page_size=2`, null],
      ],
    );
  });
});

describe('GET /v1/third-party/orders/{external_order_id}/', () => {
  it('200: reading an order returns its current status', async () => {
    const { body } = await place(service, tenant, { external_order_id: 'one' });
    const read = () => service.call('GET', orderPath('one'), { headers: tenant.partner });
    const answer = await read();
    assert.deepEqual([answer.status, answer.body], [200, body]);
    await setOrderStatus(service, tenant, body.order_id, 'ready');
    assert.deepEqual((await read()).body, { ...body, status: 'ready' });
  });

  it('404: an unknown external id, an order_id used as external id, and an order of another caller get the same response', async () => {
    const sibling = await service.credential(tenant.tenantId);
    const { body } = await place(service, tenant, { external_order_id: 'mine' });
    const unknown = await service.call('GET', orderPath('unknown'), { headers: tenant.partner });
    assertError(unknown, 404, 'order_not_found');
    const stranger = (await service.tenant()).partner;
    for (const [id, headers] of [
      [body.order_id, tenant.partner],
      ['mine', sibling.partner],
      ['mine', stranger],
      ['MINE', tenant.partner],
    ] as const) {
      assert.equal((await service.call('GET', orderPath(id), { headers })).text, unknown.text);
      const cancelled = await service.call('POST', orderPath(id, 'cancel/'), { headers });
      assert.deepEqual([cancelled.status, cancelled.text], [404, unknown.text]);
    }
    assert.equal((await service.call('GET', orderPath('mine'), { headers: tenant.partner })).body.status, 'pending');
  });
});

describe('POST /v1/third-party/orders/{external_order_id}/cancel/', () => {
  const cancel = (id: string, options: object = {}) =>
    service.call('POST', orderPath(id, 'cancel/'), { headers: tenant.partner, ...options });

  for (const status of ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery']) {
    it(`200: an order in status ${status} is cancelled, and one event is written`, async () => {
      const { body } = await place(service, tenant, { external_order_id: `from ${status}` });
      if (status !== 'pending') {
        await setOrderStatus(service, tenant, body.order_id, status);
      }
      const events = (await dumpRows(service, 'event')).length;
      const answer = await cancel(`from ${status}`);
      assert.deepEqual([answer.status, answer.body], [200, { ...body, status: 'cancelled' }]);
      const rows = await dumpRows(service, 'event');
      assert.equal(rows.length, events + 1);
      assert.ok(rows.some((row) => row.includes(body.order_id) && row.includes('cancelled')));
    });
  }

  for (const status of ['completed', 'cancelled']) {
    it(`409: an order in status ${status} cannot be cancelled, the message names the status, and no row is written`, async () => {
      const { body } = await place(service, tenant, { external_order_id: `ended ${status}` });
      await setOrderStatus(service, tenant, body.order_id, status);
      const rows = await dumpRows(service, 'event', 'restaurant_order');
      const message = assertError(await cancel(`ended ${status}`), 409, 'invalid_status_transition');
      assert.match(message, new RegExp(`is ${status}`));
      assert.deepEqual(await dumpRows(service, 'event', 'restaurant_order'), rows);
    });
  }

  it('200, 409: one of ten concurrent cancellations succeeds, nine get 409, and one event is written', async () => {
    const { body } = await place(service, tenant, { external_order_id: 'ten times' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel('ten times')));
    assert.deepEqual(answers.map(({ status }) => String(status)).sort(), ['200', ...Array<string>(9).fill('409')]);
    const events = (await dumpRows(service, 'event')).filter((row) => row.includes(body.order_id));
    assert.equal(events.length, 1);
  });

  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  for (const [name, headers, body] of [
    ['no body and the content type application/json', { 'content-type': 'application/json' }, undefined],
    ['an empty object', { 'content-type': 'application/json' }, '{}'],
    ['an empty form', { 'content-type': 'application/x-www-form-urlencoded' }, ''],
    ['an empty multipart body', multipart, ''],
    ['a multipart body without parts', multipart, '--x--\r\n'],
    ['unknown fields', { 'content-type': 'application/json' }, '{"reason":"changed my mind"}'],
  ] as [string, Record<string, string>, string | undefined][]) {
    it(`200: an order is cancelled by a call with this body: ${name}`, async () => {
      await place(service, tenant, { external_order_id: name });
      const answer = await cancel(name, {
        headers: { ...tenant.partner, ...headers },
        ...(body === undefined ? {} : { body }),
      });
      assert.deepEqual([answer.status, answer.body?.status], [200, 'cancelled'], answer.text);
    });
  }
});
