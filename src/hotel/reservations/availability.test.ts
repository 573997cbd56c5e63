import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { AVAILABILITY, dayAfter, dayAhead, openHotel, pmsHeaders, sellable, writePlan } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';

const { service, hotel } = await useHotel();

const ask = (query: string, headers = hotel.partner) => service.call('GET', `${AVAILABILITY}?${query}`, { headers });
const askFor = (id: string | undefined, checkIn: string, checkOut: string) =>
  ask(`room_type_id=${id}&check_in=${checkIn}&check_out=${checkOut}`);

describe('GET /v1/third-party/hotels/availability/', () => {
  it('200: the availability has exactly the documented fields of the room type and of each night', async () => {
    const id = hotel.roomTypes['Double'];
    const answer = await askFor(id, '2096-02-28', '2096-03-02');
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      room_type_id: id,
      name: 'Double',
      base_price: '90.00',
      days: [
        { date: '2096-02-28', sellable: 3 },
        { date: '2096-02-29', sellable: 3 },
        { date: '2096-03-01', sellable: 3 },
      ],
    });
    assert.equal((await askFor(hotel.roomTypes['Suite'], '2096-02-28', '2096-03-02')).body.base_price, null);
    assert.deepEqual(Object.keys(answer.body), ['room_type_id', 'name', 'base_price', 'days']);
  });

  it('200: the availability of 730 past nights is read in one call', async () => {
    const { status, body } = await askFor(hotel.roomTypes['Double'], '2023-03-01', '2025-02-28');
    assert.deepEqual([status, body.days.length], [200, 730]);
    assert.deepEqual([body.days[0].date, body.days[729].date], ['2023-03-01', '2025-02-27']);
    for (const [index, { date }] of body.days.entries()) {
      assert.equal(date, dayAfter('2023-03-01', index));
    }
  });

  it('200: all free rooms are sellable even if a plan has a large min_nights, or if the room type has no plan', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    const longStay = [{ date: dayAhead(30), min_nights: 30 }];
    await writePlan(service, pms, 'restrictions', own.plans['Suite/Suite rate'], longStay);
    assert.deepEqual(await sellable(service, own, own.roomTypes['Suite'], dayAhead(30), dayAhead(31)), [1]);
    assert.deepEqual(await sellable(service, own, own.roomTypes['Bunk'], dayAhead(30), dayAhead(31)), [10]);
  });

  it('400: a query whose check_out is not after check_in, or is more than 730 nights later, is refused', async () => {
    const id = hotel.roomTypes['Double'];
    const cases: [string, string[]][] = [
      [`room_type_id=${id}&check_in=2096-01-02&check_out=2096-01-02`, ['check_out']],
      [`room_type_id=${id}&check_in=2096-01-02&check_out=2096-01-01`, ['check_out']],
      [`room_type_id=${id}&check_in=2090-01-01&check_out=2092-01-02`, ['check_out']],
      [`room_type_id=${id}&check_in=0001-01-01&check_out=9999-12-31`, ['check_out']],
    ];
    for (const [query, fields] of cases) {
      const named = faultsOf(await ask(query)).map((fault) => fault.split(':')[0]);
      assert.deepEqual(new Set(named), new Set(fields), query);
    }
  });

  it('404: the response is the same if the room type is unknown, is inactive or belongs to another tenant', async () => {
    const own = await openHotel(service);
    const document = { ...own.document, properties: sampleHotel().slice(0, 1) };
    document.properties[0]?.room_types?.splice(1);
    await service.apply(document);
    const texts = [];
    for (const id of [crypto.randomUUID(), hotel.roomTypes['Double'], own.roomTypes['Suite']]) {
      const answer = await ask(`room_type_id=${id}&check_in=2096-01-01&check_out=2096-01-02`, own.partner);
      assertError(answer, 404, 'room_type_not_found');
      texts.push(answer.text);
    }
    assert.equal(new Set(texts).size, 1);
  });
});
