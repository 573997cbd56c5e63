import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encode, jsonOf, percentEncoded } from './encodings.ts';
import { faultIn } from './growth.ts';
import { HOSTILE_VALUES, KEY, ODD_HEADERS } from './hostile.ts';
import { insideFaults, refusalFaults } from './oracle.ts';
import { Pools } from './pools.ts';
import { Secrets } from './secrets.ts';

describe('the checks that the fuzzer makes on a response', () => {
  it('refusalFaults accepts a 4xx response only if its body has exactly a code and a message, and the code fits the status', () => {
    const refusal = (body: object) => refusalFaults(409, JSON.stringify(body)).length;
    assert.equal(refusal({ code: 'error', message: 'No.' }), 0);
    assert.equal(refusal({ code: 'room_not_available', message: 'No.' }), 0);
    for (const body of [
      { code: 'error' },
      { code: 'error', message: '' },
      { code: 'error', message: 'No.', details: [] },
      { code: 'order_not_found', message: 'No.' },
      { code: 'no_such_code', message: 'No.' },
      ['error'],
    ]) {
      assert.equal(refusal(body), 1, JSON.stringify(body));
    }
    assert.equal(refusalFaults(409, 'No.').length, 1);
    assert.equal(refusalFaults(500, '{"code":"error","message":"No."}').length, 1);
    assert.equal(refusalFaults(418, '{"code":"error","message":"No."}').length, 1);
  });

  it('insideFaults finds stack traces, SQL, database errors, network errors and file paths in a text', () => {
    for (const text of [
      'Error: no\\n    at place (file:///orders.ts:1:2)',
      String(new Error('no').stack),
      'duplicate key value violates unique constraint "order_pkey"',
      'invalid input syntax for type uuid',
      'insert failed: INSERT INTO restaurant_order',
      'connect ECONNREFUSED 127.0.0.1:5432',
      'cannot open /var/lib/roomservice',
      'src/restaurant/orders/orders.ts:12',
    ]) {
      assert.notDeepEqual(insideFaults(text), [], text);
    }
    assert.deepEqual(
      insideFaults('items.0.quantity: must be at least 1 | body: is not valid JSON (at position 3)'),
      [],
    );
  });

  it('insideFaults does not report the hostile values and headers that the fuzzer itself sends', () => {
    const sent = [...Object.values(HOSTILE_VALUES).map((value) => jsonOf(value)), ...ODD_HEADERS.flat()];
    assert.deepEqual(sent.flatMap(insideFaults), []);
  });

  it('findLeaks reports secrets and the data of another tenant, but not an id that the request itself contained', () => {
    const secrets = new Secrets();
    secrets.learn({ api_secret: 'sss_0123456789abcdef', nested: [{ access_token: 'head.body.signature0123456789' }] });
    secrets.setForeign(['Rival'], ['01a1ff18-304c-7388-8a40-1ef236a28878']);
    assert.equal(secrets.findLeaks('{"a":"sss_0123456789abcdef"}', '').length, 1);
    assert.equal(secrets.findLeaks('"x.y.signature0123456789"', '').length, 1);
    assert.equal(secrets.findLeaks('Rival Inn', 'Rival').length, 1);
    assert.equal(secrets.findLeaks('01a1ff18-304c-7388-8a40-1ef236a28878', '').length, 1);
    assert.deepEqual(
      secrets.findLeaks('01a1ff18-304c-7388-8a40-1ef236a28878', '/01a1ff18-304c-7388-8a40-1ef236a28878/'),
      [],
    );
  });
});

describe('the requests that the fuzzer writes', () => {
  it('jsonOf writes repeated keys, __proto__ and a number too large for a double; percentEncoded writes a lone surrogate', () => {
    assert.equal(jsonOf({ a: 1, [`${KEY}a`]: 'RAW-1e309' }), '{"a":1,"a":1e309}');
    assert.equal(jsonOf({ [`${KEY}__proto__`]: '\ud800' }), '{"__proto__":"\\ud800"}');
    assert.equal(percentEncoded('𝄞\ud800'), '%F0%9D%84%9E%ED%A0%80');
  });

  it('encode writes a nested form value in four styles: with brackets, with dots, mixed as items[0]item_id, and as JSON text', () => {
    const value = { items: [{ item_id: 'a b' }] };
    assert.equal(encode(value, 'form', 'brackets'), 'items%5B0%5D%5Bitem_id%5D=a%20b');
    assert.equal(encode(value, 'form', 'dots'), 'items.0.item_id=a%20b');
    assert.equal(encode(value, 'form', 'mixed'), 'items%5B0%5Ditem_id=a%20b');
    assert.equal(encode(value, 'form', 'json'), `items=${encodeURIComponent('[{"item_id":"a b"}]')}`);
  });

  it('Pools.find returns ids from responses for later requests, but never an id that Pools.reserve has excluded', () => {
    const pools = new Pools();
    pools.reserve('mine');
    pools.learn([{ id: 'mine' }, { id: 'spare', rate_plans: [{ id: 'plan' }] }], 'credentials');
    assert.equal(pools.find('credentials.id', 0), 'spare');
    assert.equal(pools.find('credentials.id', 1), 'spare');
    assert.equal(pools.find('rate_plan_id', 0), 'plan');
  });
});

describe('faultIn, which checks how response times grow with the size of the body', () => {
  const points = (msOf: (mebibytes: number) => number) =>
    [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1].map((size) => ({ sizeBytes: size * 1_024 ** 2, ms: msOf(size) }));

  it('faultIn returns null if the response time grows linearly or slightly faster than the body size, also with a fixed cost per call', () => {
    assert.equal(faultIn(points((size) => 1 + 200 * size)), null);
    assert.equal(faultIn(points((size) => 30 + 100 * size)), null);
    assert.equal(faultIn(points((size) => 6 * size * Math.log2(2 ** 20 * size))), null);
  });

  it('faultIn reports a response time that grows with the square of the body size', () => {
    assert.match(faultIn(points((size) => 1 + 250 * size ** 2)) ?? '', /power of (?:1\.[5-9]|2)/);
  });

  it('faultIn reports a response time that grows linearly but is too long for the body size', () => {
    assert.match(faultIn(points((size) => 2_600 * size)) ?? '', /too long for/);
  });

  it('faultIn reports a request that got no response', () => {
    assert.equal(faultIn([{ sizeBytes: 1_024 ** 2, ms: 40_000 }]), 'no response');
  });
});
