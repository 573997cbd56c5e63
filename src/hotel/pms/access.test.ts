import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { pmsHeaders } from '#test/support/hotel.ts';
import { hotelTenant, PMS, type ManagedHotel } from '#test/support/pms.ts';
import { startService, type TestService } from '#test/support/service.ts';

let service: TestService;
let hotel: ManagedHotel;
before(async () => {
  service = await startService();
  hotel = await hotelTenant(service);
});
after(() => service.close());

/** Returns all routes of the PMS API, each with a path and a body that pass the validation. */
function routes(): [method: string, path: string, json?: object][] {
  const dates = 'check_in=2027-05-01&check_out=2027-05-02';
  const rate_plan_id = hotel.id('Harbour House', 'Double', 'Flexible');
  return [
    ['GET', '/properties/'],
    ['GET', `/properties/${hotel.id('Harbour House')}/room-types/`],
    ['GET', `/inventory/?room_type_id=${hotel.id('Harbour House', 'Double')}&${dates}`],
    ['GET', `/rates/?rate_plan_id=${rate_plan_id}&${dates}`],
    ['PUT', '/rates/', { rate_plan_id, rates: [{ date: '2027-05-01', price: '90' }] }],
    ['PUT', '/restrictions/', { rate_plan_id, restrictions: [{ date: '2027-05-01' }] }],
    ['GET', '/reservations/'],
    ['GET', `/reservations/${randomUUID()}/`],
  ];
}

describe('access to the routes of the PMS API', () => {
  it("401 invalid_credentials: the PMS API refuses missing or wrong keys and secrets, partner headers and an owner's token", async () => {
    const { 'x-pms-api-key': key = '', 'x-pms-api-secret': secret = '' } = hotel.pms;
    const another = await pmsHeaders(service, hotel);
    const shown: Record<string, string>[] = [
      {},
      { 'x-pms-api-key': key },
      { 'x-pms-api-secret': secret },
      { 'x-pms-api-key': key, 'x-pms-api-secret': '' },
      { 'x-pms-api-key': key, 'x-pms-api-secret': `${secret}x` },
      { 'x-pms-api-key': key, 'x-pms-api-secret': another['x-pms-api-secret'] ?? '' },
      { 'x-pms-api-key': `${key}x`, 'x-pms-api-secret': secret },
      { 'x-pms-api-key': 'rpk_', 'x-pms-api-secret': secret },
      { 'x-api-key': key, 'x-api-secret': secret },
      hotel.owner,
    ];
    const texts = new Set<string>();
    for (const [method, path, json] of routes()) {
      for (const headers of shown) {
        const answer = await service.call(method, PMS + path, { headers, ...(json ? { json } : {}) });
        assert.equal(answer.status, 401, `${method} ${path}`);
        assert.notEqual(answer.headers.get('www-authenticate'), null);
        texts.add(answer.text);
      }
    }
    assert.equal(texts.size, 1, 'all refused calls get the same body');
    assert.equal(JSON.parse([...texts][0] ?? '').code, 'invalid_credentials');
  });

  it('200, 404: every route of the PMS API accepts a PMS credential, and a reservation with a random id is not found', async () => {
    const statuses: number[] = [];
    for (const [method, path, json] of routes()) {
      statuses.push((await service.call(method, PMS + path, { headers: hotel.pms, ...(json ? { json } : {}) })).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 200, 404]);
  });
});

describe('rate limit of the PMS API', () => {
  it('429 rate_limited: after 300 calls to different routes, a PMS credential is refused, but other credentials are accepted', async () => {
    const own = await hotelTenant(service);
    const paths = routes().filter(([method]) => method === 'GET');
    const seen: number[] = [];
    for (let round = 0; round < 30; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => {
          const [method, path] = paths[(round + index) % paths.length] ?? ['GET', '/properties/'];
          return service.call(method, PMS + path, { headers: own.pms });
        }),
      );
      assert.ok(answers.every((answer) => answer.status !== 429));
      seen.push(...answers.map((answer) => Number(answer.headers.get('x-ratelimit-remaining'))));
    }
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, index) => index),
    );
    const refused = await service.call('PUT', `${PMS}/rates/`, { headers: own.pms, json: {} });
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
    assert.equal(refused.headers.get('x-ratelimit-limit'), '300');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);

    const second = await service.call('GET', `${PMS}/properties/`, { headers: await pmsHeaders(service, own) });
    assert.deepEqual([second.status, second.headers.get('x-ratelimit-remaining')], [200, '299']);
    const partner = await service.call('GET', '/v1/third-party/hotels/rooms/', { headers: own.partner });
    assert.deepEqual([partner.status, partner.headers.get('x-ratelimit-remaining')], [200, '299']);
  });

  it('401: calls with a wrong secret are refused, and do not count against the rate limit of the PMS credential', async () => {
    const own = await pmsHeaders(service, hotel);
    for (let tries = 0; tries < 5; tries += 1) {
      const wrong = { ...own, 'x-pms-api-secret': 'wrong' };
      assert.equal((await service.call('GET', `${PMS}/properties/`, { headers: wrong })).status, 401);
    }
    const answer = await service.call('GET', `${PMS}/properties/`, { headers: own });
    assert.equal(answer.headers.get('x-ratelimit-remaining'), '299');
  });
});
