import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hotelTenant, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

interface Rate {
  date: string;
  price: string;
  is_sold_out: boolean;
}

const service = await useService();
const hotel = await hotelTenant(service);

const flexible = () => hotel.id('Harbour House', 'Double', 'Flexible');
const ask = (query: string) => service.call('GET', `${PMS}/rates/?${query}`, { headers: hotel.pms });
const read = async (planId: string, checkIn: string, checkOut: string): Promise<Rate[]> => {
  const answer = await ask(`rate_plan_id=${planId}&check_in=${checkIn}&check_out=${checkOut}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const put = (json: unknown) => service.call('PUT', `${PMS}/rates/`, { headers: hotel.pms, json });
const write = async (planId: string, rates: object[]): Promise<Rate[]> => {
  const answer = await put({ rate_plan_id: planId, rates });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const refuse = async (json: unknown, field: RegExp) => {
  const answer = await put(json);
  assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], JSON.stringify(json).slice(0, 200));
  assert.match(answer.body.message, field);
};
const day = (index: number) => new Date(Date.UTC(2030, 0, 1 + index)).toISOString().slice(0, 10);

describe('GET /v1/channel-manager/pms/rates/', () => {
  it("200: a night without a written rate is open and has the plan's base price", async () => {
    assert.deepEqual(await read(flexible(), '2028-02-28', '2028-03-01'), [
      { date: '2028-02-28', price: '100.00', is_sold_out: false },
      { date: '2028-02-29', price: '100.00', is_sold_out: false },
    ]);
  });

  it('200: a written rate applies only to its own night, and the list of rates has no entry for the date check_out of the query', async () => {
    await write(flexible(), [{ date: '2027-06-02', price: '130.5', is_sold_out: true }]);
    assert.deepEqual(await read(flexible(), '2027-06-01', '2027-06-04'), [
      { date: '2027-06-01', price: '100.00', is_sold_out: false },
      { date: '2027-06-02', price: '130.50', is_sold_out: true },
      { date: '2027-06-03', price: '100.00', is_sold_out: false },
    ]);
    assert.equal(
      (await read(flexible(), '2027-06-01', '2027-06-02')).length,
      1,
      'the day of check-out is not in the list',
    );
  });

  it('200: the rates of an inactive plan can be read, and a plan id in capital letters is accepted', async () => {
    const inactive = hotel.id('Harbour House', 'Double', 'Closed for good');
    assert.deepEqual(await read(inactive, '2027-01-01', '2027-01-02'), [
      { date: '2027-01-01', price: '1.00', is_sold_out: false },
    ]);
    assert.equal((await read(flexible().toUpperCase(), '2027-01-01', '2027-01-02'))[0]?.price, '100.00');
  });

  it('200: the rates of 730 nights are read in one call', async () => {
    assert.equal((await read(flexible(), '2027-01-01', '2028-12-31')).length, 730);
  });

  it('400 invalid_request: a check_out that is not after check_in, or is more than 730 nights later, is refused', async () => {
    const plan = `rate_plan_id=${flexible()}`;
    for (const [query, field] of [
      [`${plan}&check_in=2027-05-01&check_out=2027-05-01`, 'check_out'],
      [`${plan}&check_in=2027-05-02&check_out=2027-05-01`, 'check_out'],
      [`${plan}&check_in=2027-01-01&check_out=2029-01-01`, 'check_out'],
    ] as const) {
      const answer = await ask(query);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], query);
      assert.match(answer.body.message, new RegExp(`(^|\\| )${field}: `), query);
    }
  });
});

describe('PUT /v1/channel-manager/pms/rates/', () => {
  const saver = () => hotel.id('Harbour House', 'Double', 'Saver');

  it('200: a price may be a number or a string, and the response shows it with two decimals', async () => {
    const prices = [
      0,
      '0',
      '0.00',
      0.1,
      '7',
      12.5,
      '12.5',
      99.99,
      '99999999.99',
      99_999_999.99,
      99_999_999,
      '00012.50',
    ];
    const rates = prices.map((price, index) => ({ date: day(index), price }));
    const expected = [0, 0, 0, 0.1, 7, 12.5, 12.5, 99.99, 99_999_999.99, 99_999_999.99, 99_999_999, 12.5].map(
      (price, index) => ({ date: day(index), price: price.toFixed(2), is_sold_out: false }),
    );
    assert.deepEqual(await write(saver(), rates), expected);
    assert.deepEqual(await read(saver(), day(0), day(prices.length)), expected);
  });

  it('200: the response has one entry for each date, sorted by date; if a date is sent twice, the last entry wins', async () => {
    const answer = await write(saver(), [
      { date: '2031-02-03', price: 30 },
      { date: '2031-02-01', price: 10, is_sold_out: true },
      { date: '2031-02-03', price: 31, is_sold_out: true },
      { date: '2031-02-02', price: 20 },
      { date: '2031-02-01', price: 11 },
    ]);
    const expected = [
      { date: '2031-02-01', price: '11.00', is_sold_out: false },
      { date: '2031-02-02', price: '20.00', is_sold_out: false },
      { date: '2031-02-03', price: '31.00', is_sold_out: true },
    ];
    assert.deepEqual(answer, expected);
    assert.deepEqual(await read(saver(), '2031-02-01', '2031-02-04'), expected);
  });

  it('200: a rate without is_sold_out opens a night that was sold out', async () => {
    await write(saver(), [{ date: '2031-03-01', price: 1, is_sold_out: true }]);
    await write(saver(), [{ date: '2031-03-01', price: 2 }]);
    assert.deepEqual(await read(saver(), '2031-03-01', '2031-03-02'), [
      { date: '2031-03-01', price: '2.00', is_sold_out: false },
    ]);
  });

  it('200: if the same rate is written in two calls, both responses are equal, and other nights and plans keep their prices', async () => {
    const rates = [{ date: '2031-04-02', price: '55.00', is_sold_out: true }];
    assert.deepEqual(await write(saver(), rates), rates);
    assert.deepEqual(await write(saver(), rates), rates);
    assert.deepEqual(
      (await read(saver(), '2031-04-01', '2031-04-04')).map((rate) => rate.price),
      ['80.00', '55.00', '80.00'],
    );
    assert.equal((await read(flexible(), '2031-04-02', '2031-04-03'))[0]?.price, '100.00');
  });

  it('200: a rate may be written on an inactive plan and on a past date, and its unknown fields are ignored', async () => {
    const inactive = hotel.id('Harbour House', 'Double', 'Closed for good');
    await write(inactive, [
      { date: '0001-01-01', price: 3, colour: 'red' },
      { date: '9999-12-31', price: 4 },
    ]);
    assert.equal((await read(inactive, '0001-01-01', '0001-01-02'))[0]?.price, '3.00');
  });

  it('200: one call may write 1 rate, 730 rates of different dates, or 1,000 rates for 500 dates', async () => {
    assert.equal((await write(saver(), [{ date: '2035-01-01', price: 5 }])).length, 1);
    const twoYears = Array.from({ length: 730 }, (_, index) => ({ date: day(index), price: index }));
    assert.equal((await write(saver(), twoYears.toReversed())).length, 730);
    const stored = await read(saver(), day(0), day(730));
    assert.deepEqual(
      stored.map((rate) => Number(rate.price)),
      twoYears.map((rate) => rate.price),
    );
    const thousand = Array.from({ length: 1_000 }, (_, index) => ({ date: day(index % 500), price: index }));
    const answer = await write(saver(), thousand);
    assert.equal(answer.length, 500);
    assert.deepEqual(
      answer.map((rate) => Number(rate.price)),
      thousand.slice(500).map((rate) => rate.price),
    );
  });

  it('400: if one of 51 rates is invalid, the call writes no rate', async () => {
    const rates = Array.from({ length: 50 }, (_, index) => ({ date: day(index), price: 777 as unknown }));
    await refuse({ rate_plan_id: flexible(), rates: [...rates, { date: '2030-06-01', price: '1.234' }] }, /rates\.50/);
    assert.ok((await read(flexible(), day(0), day(60))).every((rate) => rate.price === '100.00'));
  });

  it('400: the message about a price with a comma shows a price with a point', async () => {
    const rates = [{ date: '2030-06-01', price: '81,50' }];
    await refuse({ rate_plan_id: flexible(), rates }, /with at most two decimals, such as 81 or 81\.50$/);
  });
});
