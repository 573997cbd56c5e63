import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { openHotel, ROOMS } from '#test/support/hotel.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';

const { service, hotel } = await useHotel();

type Properties = ReturnType<typeof sampleHotel>;

const list = (query = '', headers = hotel.partner) => service.call('GET', `${ROOMS}${query}`, { headers });
const apply = ({ document }: TestTenant, properties: Properties) => service.apply({ ...document, properties });
const namesOf = async (tenant: TestTenant) =>
  (await list('', tenant.partner)).body.map((each: { name: string; property: { name: string } }) =>
    [each.property.name, each.name].join('/'),
  );

describe('GET /v1/third-party/hotels/rooms/', () => {
  it('200: the list of room types has exactly the documented fields, in the order of the tenant document', async () => {
    const answer = await list();
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    const [first, , , last] = answer.body;
    assert.deepEqual(first, {
      room_type_id: hotel.roomTypes['Double'],
      name: 'Double',
      description: 'with a view',
      max_occupancy: 2,
      base_price: '90.00',
      currency: 'EUR',
      property: { id: first.property.id, name: 'Harbour House', city: 'Porto', country_code: 'PT' },
      amenities: ['wifi'],
      images: ['https://images.example.com/double.jpg'],
    });
    assert.deepEqual(last, {
      room_type_id: hotel.roomTypes['Floor'],
      name: 'Floor',
      description: '',
      max_occupancy: 1,
      base_price: null,
      currency: 'EUR',
      property: first.property,
      amenities: [],
      images: [],
    });
    assert.deepEqual(
      answer.body.map((roomType: { room_type_id: string }) => roomType.room_type_id),
      ['Double', 'Suite', 'Bunk', 'Floor', 'Lagoon Lodge/Double'].map((name) => hotel.roomTypes[name]),
    );
  });

  it('200: the list has the room types of the last applied document, in its order, and a re-added room type keeps its id', async () => {
    const own = await openHotel(service);
    const [harbour, lagoon] = sampleHotel();
    assert.ok(harbour?.room_types && lagoon);
    const [double, suite, bunk] = harbour.room_types;
    assert.ok(double && suite && bunk);
    await apply(own, [lagoon, { ...harbour, room_types: [bunk, double] }]);
    assert.deepEqual(await namesOf(own), ['Lagoon Lodge/Double', 'Harbour House/Bunk', 'Harbour House/Double']);
    await apply(own, [{ ...harbour, room_types: [suite] }]);
    assert.deepEqual(await namesOf(own), ['Harbour House/Suite'], 'a removed property has no room types in the list');
    await apply(own, []);
    assert.equal((await list('', own.partner)).text, '[]');
    await apply(own, sampleHotel());
    const ids = (await list('', own.partner)).body.map((each: { room_type_id: string }) => each.room_type_id);
    assert.deepEqual(
      ids,
      ['Double', 'Suite', 'Bunk', 'Floor', 'Lagoon Lodge/Double'].map((name) => own.roomTypes[name]),
    );
  });

  it('200: the list is empty for a tenant without properties, although another tenant has room types', async () => {
    const bare = await service.tenant({ features: ['hotel'] });
    assert.equal((await list('', bare.partner)).text, '[]');
    assert.deepEqual((await list('?page=1', bare.partner)).body, { count: 0, next: null, previous: null, results: [] });
  });

  it('200: the pages together hold the whole list; 404: a page after the last page is not found', async () => {
    const whole = (await list()).body;
    const pages = await Promise.all([1, 2, 3].map((page) => list(`?page=${page}&page_size=2`)));
    assert.deepEqual(
      pages.flatMap((page) => page.body.results),
      whole,
    );
    const link = (page: number) => `${service.url}${ROOMS}?page=${page}&page_size=2`;
    assert.deepEqual(
      pages.map(({ body }) => [body.count, body.previous, body.next]),
      [
        [5, null, link(2)],
        [5, link(1), link(3)],
        [5, link(2), null],
      ],
    );
    assertError(await list('?page=4&page_size=2'), 404, 'error');
  });

  it('304: a call with the current ETag gets no body until the list of room types changes', async () => {
    const own = await openHotel(service);
    const listWithTag = (etag: string) => list('', { ...own.partner, 'if-none-match': etag });
    const first = await list('', own.partner);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^(W\/)?"[^"]+"$/);
    for (const held of [etag, `"other", ${etag}`, '*']) {
      const same = await listWithTag(held);
      assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag]);
    }
    assert.equal((await listWithTag('"other"')).status, 200);
    await apply(own, sampleHotel());
    assert.equal((await listWithTag(etag)).status, 304, 'applying an equal document keeps the ETag');
    const changed = sampleHotel();
    const roomType = changed[0]?.room_types?.[0];
    assert.ok(roomType);
    roomType.base_price = '91';
    await apply(own, changed);
    const second = await listWithTag(etag);
    assert.deepEqual([second.status, second.body[0].base_price], [200, '91.00']);
    assert.notEqual(second.headers.get('etag'), etag);
  });

  it('200: the response to HEAD has no body, and its ETag is equal to the ETag of the list of room types', async () => {
    const response = await fetch(service.url + ROOMS, { method: 'HEAD', headers: hotel.partner });
    assert.deepEqual([response.status, await response.text()], [200, '']);
    assert.equal(response.headers.get('etag'), (await list()).headers.get('etag'));
  });

  it('401 and 403: the list of room types is refused without credentials, and for a tenant that lost the hotel feature', async () => {
    assertError(await list('', {}), 401, 'invalid_credentials');
    const own = await openHotel(service);
    const { properties: _, ...document } = own.document;
    await service.apply({ ...document, features: ['restaurant'] });
    assertError(await list('?page=0', own.partner), 403, 'error');
    await service.apply({ ...document, features: ['hotel'] });
    assert.equal((await list('', own.partner)).body.length, 5, 'a document without properties keeps the stored ones');
  });
});
