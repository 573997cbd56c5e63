import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();

describe('rates and restrictions that are sent as a form', () => {
  let hotel: ManagedHotel;
  let plan: string;
  beforeEach(async () => {
    hotel = await hotelTenant(service);
    plan = hotel.id('Harbour House', 'Double', 'Flexible');
  });

  /**
   * Sends the fields in two requests, one URL-encoded and one multipart. Asserts that both responses are equal, and returns the response.
   */
  const put = async (list: 'rates' | 'restrictions', fields: [string, string][]) => {
    const multipart = new FormData();
    for (const [name, value] of fields) {
      multipart.append(name, value);
    }
    const answers = [];
    for (const body of [new URLSearchParams(fields), multipart]) {
      answers.push(await service.call('PUT', `${PMS}/${list}/`, { headers: hotel.pms, body }));
    }
    const [encoded, parts] = answers;
    assert.ok(encoded && parts);
    assert.deepEqual([encoded.status, encoded.text], [parts.status, parts.text]);
    return encoded;
  };
  const nights = async () => {
    const query = `rate_plan_id=${plan}&check_in=2030-01-01&check_out=2030-01-03`;
    return (await service.call('GET', `${PMS}/rates/?${query}`, { headers: hotel.pms })).body;
  };

  for (const [style, name] of [
    ['rates[0][date]', (index: number, field: string) => `rates[${index}][${field}]`],
    ['rates[0].date', (index: number, field: string) => `rates[${index}].${field}`],
    ['rates[0]date', (index: number, field: string) => `rates[${index}]${field}`],
  ] as const) {
    it(`200: form fields with names like ${style} write rates with the sent prices and is_sold_out values`, async () => {
      const answer = await put('rates', [
        ['rate_plan_id', plan],
        [name(0, 'date'), '2030-01-01'],
        [name(0, 'price'), '120.5'],
        [name(0, 'is_sold_out'), 'true'],
        [name(1, 'date'), '2030-01-02'],
        [name(1, 'price'), '130'],
        [name(1, 'is_sold_out'), 'false'],
      ]);
      assert.equal(answer.status, 200, answer.text);
      const expected = [
        { date: '2030-01-01', price: '120.50', is_sold_out: true },
        { date: '2030-01-02', price: '130.00', is_sold_out: false },
      ];
      assert.deepEqual(answer.body, expected);
      assert.deepEqual(await nights(), expected);
    });
  }

  it('200: rates are written if one form field holds the whole list as JSON', async () => {
    const rates = JSON.stringify([{ date: '2030-01-01', price: 12, is_sold_out: true }]);
    const answer = await put('rates', [
      ['rate_plan_id', plan],
      ['rates', rates],
    ]);
    assert.deepEqual([answer.status, answer.body], [200, [{ date: '2030-01-01', price: '12.00', is_sold_out: true }]]);
  });

  it('200: restrictions can be sent as form fields, and an empty min_nights field does not change min_nights', async () => {
    const answer = await put('restrictions', [
      ['rate_plan_id', plan],
      ['restrictions[0][date]', '2030-01-01'],
      ['restrictions[0][stop_sell]', 'true'],
      ['restrictions[0][min_nights]', '3'],
      ['restrictions[1][date]', '2030-01-02'],
      ['restrictions[1][min_nights]', ''],
    ]);
    assert.deepEqual([answer.status, answer.body], [200, { updated: 2 }]);
    assert.deepEqual(
      (await nights()).map((rate: { is_sold_out: boolean }) => rate.is_sold_out),
      [true, false],
    );
    const stored = await service.database.db
      .selectFrom('rate_plan')
      .select('min_nights')
      .where('id', '=', plan)
      .execute();
    assert.deepEqual(stored, [{ min_nights: 3 }]);
  });

  it('200: a form with 1,000 rates is accepted; 400: a form with 1,001 rates is refused', async () => {
    const fields = (count: number) => [
      ['rate_plan_id', plan] as [string, string],
      ...Array.from({ length: count }, (_, index): [string, string][] => [
        [`rates[${index}][date]`, '2030-01-01'],
        [`rates[${index}][price]`, String(index)],
      ]).flat(),
    ];
    const answer = await put('rates', fields(1_000));
    assert.deepEqual(
      [answer.status, answer.body],
      [200, [{ date: '2030-01-01', price: '999.00', is_sold_out: false }]],
    );
    const refused = await put('rates', fields(1_001));
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.message],
      [400, 'invalid_request', 'rates: must have at most 1000 entries'],
    );
  });

  it('400 invalid_request: a form with an invalid value writes no rate, and the message names the JSON path of the field', async () => {
    for (const [name, value, message] of [
      ['rates[0][price]', '1e2', /^rates\.0\.price: /],
      ['rates[0][price]', '', /^rates\.0\.price: /],
      ['rates[0][is_sold_out]', 'yes', /^rates\.0\.is_sold_out: must be true or false$/],
      ['rates[0][is_sold_out]', '1', /^rates\.0\.is_sold_out: must be true or false$/],
      ['rates[0][date]', '2030-02-30', /^rates\.0\.date: /],
      ['rate_plan_id', 'x', /^rate_plan_id: /],
      ['rates[1][date]', '2030-01-02', /^rates\.1\.price: is required$/],
      ['rates[1001][date]', '2030-01-02', /rates/],
      ['rates[__proto__][date]', '2030-01-02', /__proto__/],
    ] as const) {
      const fields = new Map([
        ['rate_plan_id', plan],
        ['rates[0][date]', '2030-01-01'],
        ['rates[0][price]', '55'],
        [name, value],
      ]);
      const answer = await put('rates', [...fields]);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], `${name}=${value} ${answer.text}`);
      assert.match(answer.body.message, message);
    }
    assert.equal((await nights())[0].price, '100.00');
  });
});
