import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '#test/support/texts.ts';
import { assertError } from '#test/support/answers.ts';
import { orderPath, place } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';

const { service, tenant } = await useRestaurant();

/** Makes a call with exactly the given path. The HTTP client of the other tests would remove the segments `.` and `..` from the path. */
async function send(method: string, path: string): Promise<{ status: number | undefined; body: unknown }> {
  const sent = request(service.url, { method, path, headers: tenant.partner });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = await answer.toArray();
  return { status: answer.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

async function assertWorks(externalOrderId: string): Promise<void> {
  const placed = await place(service, tenant, { external_order_id: externalOrderId });
  assert.equal(placed.status, 201, placed.text);
  assert.equal(placed.body.external_order_id, externalOrderId);
  for (const path of [orderPath(externalOrderId), orderPath(externalOrderId).slice(0, -1)]) {
    assert.deepEqual(await send('GET', path), { status: 200, body: placed.body });
  }
  const cancelled = await send('POST', orderPath(externalOrderId, 'cancel/'));
  assert.deepEqual(cancelled, { status: 200, body: { ...placed.body, status: 'cancelled' } });
}

describe('external_order_id in a body and in a path', () => {
  for (const id of [
    'a/b',
    '/',
    'x/cancel',
    'cancel',
    '?page=1',
    '#1',
    '100%',
    '%2F',
    '%25',
    '%252F',
    '%zz',
    'a..b',
    '.',
    '..',
    '../orders',
    ' leading and trailing ',
    'a+b',
    'a b',
    'a:b;c,d@e&f=g$h!i*j(k)l~m',
    '"quoted"',
    "'; DROP TABLE restaurant_order; --",
    '\\',
    'line\nbreak\ttab',
    'null',
    '__proto__',
    'constructor',
    ':external_order_id',
    'Ünïcödé',
    '注文番号',
    'أمر',
    '👨‍👩‍👧‍👦',
    '\uFEFF',
    '\uFFFF',
  ]) {
    it(`201, 200: an order with the external_order_id ${JSON.stringify(id)} is placed, read and cancelled`, () =>
      assertWorks(id));
  }

  for (const [name, character] of [
    ['ASCII', 'x'],
    ['three-byte', '饺'],
    ['four-byte', '𝒳'],
    ['percent', '%'],
    ['slash', '/'],
  ] as const) {
    it(`201: an order whose external_order_id has 150 ${name} characters is accepted; 200: this order can be read and cancelled; 400: 151 characters are refused`, async () => {
      await assertWorks(character.repeat(150));
      const tooLong = await place(service, tenant, { external_order_id: character.repeat(151) });
      assertError(tooLong, 400, 'invalid_request');
    });
  }

  it('201, 200: an order with a random external_order_id without U+0000 is placed, and can be read unless its id is "." or ".."', async () => {
    const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 150 }).filter((id) => !id.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { maxLength: 3 }), async (ids) => {
        const own = await service.credential(tenant.tenantId);
        for (const id of ids) {
          const placed = await place(service, own, { external_order_id: id });
          assert.equal(placed.status, 201, placed.text);
          if (!/^\.\.?$/.test(id)) {
            const found = await service.call('GET', orderPath(id), { headers: own.partner });
            assert.deepEqual(found.body, placed.body);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('201: external_order_ids that differ only in case, spaces or Unicode normalization make different orders', async () => {
    const ids = ['é', 'e\u0301', 'É', ' é', 'é '];
    const answers = await Promise.all(ids.map((external_order_id) => place(service, tenant, { external_order_id })));
    assert.ok(answers.every(({ status }) => status === 201));
    assert.equal(new Set(answers.map(({ body }) => body.order_id)).size, ids.length);
  });
});
