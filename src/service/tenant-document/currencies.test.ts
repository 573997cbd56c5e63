import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import {
  book,
  bookForHouse,
  dayAhead,
  openChannel,
  openHotel,
  pmsHeaders,
  QUOTE,
  STAFF_RESERVATIONS,
  writePlan,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { ORDERS, STAFF_MENU } from '#test/support/restaurant.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { sampleHotel, sampleMenu, sampleTenant } from '#test/support/tenants.ts';
import type { TenantDocument } from './schema.ts';

const { service, hotel } = await useHotel(inYen());
const pms = await pmsHeaders(service, hotel);

/** Returns the parts of a tenant document with prices in whole yen. A dish of 1239 yen has a tax of 7.5 %. */
function inYen(): Pick<TenantDocument, 'currency' | 'menu' | 'properties'> {
  const parts = JSON.stringify({ menu: sampleMenu(), properties: sampleHotel() });
  const whole = parts.replaceAll('"10.00"', '"1239"').replaceAll('1.50"', '2.00"').replaceAll('0.50"', '1.00"');
  return { currency: 'JPY', ...JSON.parse(whole.replaceAll('2.50"', '3.00"')) };
}

const NO_DECIMALS = 'must have no decimals, because JPY has none';

async function refusalOf(document: object): Promise<string[]> {
  const applied = service.apply({ ...sampleTenant(), ...document });
  const error = await applied.then(
    () => assert.fail('The document was applied.'),
    (thrown: Error) => thrown,
  );
  return error.message
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
}

function total({ body, text }: Answer): string {
  return body?.total_amount ?? text;
}

describe('currency of a tenant document', () => {
  for (const currency of ['ABC', 'DEM', 'HRK', 'XXX', 'XAU', 'ZWL']) {
    it(`the currency ${currency} is refused by its name, because nobody pays with it`, async () => {
      assert.deepEqual(await refusalOf({ currency }), [
        `currency: "${currency}" is not a currency that is in use. Give its present code of ISO 4217, such as "EUR"`,
      ]);
    });
  }

  for (const currency of ['BHD', 'JOD', 'KWD', 'OMR', 'TND']) {
    it(`the currency ${currency} is refused by its name, because it has three decimals`, async () => {
      assert.deepEqual(await refusalOf({ currency }), [
        `currency: ${currency} cannot be used yet, because it has 3 decimals, and amounts here have two`,
      ]);
    });
  }

  it('a document in yen is refused if a price has decimals, and the message names each such price', async () => {
    const document = { currency: 'JPY', menu: sampleMenu(), properties: sampleHotel() };
    const [pizza] = document.menu.dishes;
    Object.assign(pizza ?? {}, { price: '1239.70', price_variants: [{ name: 'Large', price: '0.05' }] });
    Object.assign(document.properties[0]?.room_types?.[0] ?? {}, { base_price: '90.5' });
    assert.deepEqual(await refusalOf(document), [
      `menu.dishes.0.price: ${NO_DECIMALS}`,
      `menu.dishes.0.price_variants.0.price: ${NO_DECIMALS}`,
      `menu.dishes.0.addons.0.price: ${NO_DECIMALS}`,
      `menu.dishes.1.price: ${NO_DECIMALS}`,
      `properties.0.room_types.0.base_price: ${NO_DECIMALS}`,
      `properties.0.room_types.1.rate_plans.0.base_price: ${NO_DECIMALS}`,
    ]);
  });
});

describe('amounts of a tenant with yen', () => {
  const staff = (method: string, path: string, json: unknown) =>
    service.call(method, path, { headers: hotel.staff, json });
  const owner = (method: string, path: string, json: unknown) =>
    service.call(method, path, { headers: hotel.owner, json });

  it('400: each write of a price or an amount with decimals is refused with its path', async () => {
    const plan = hotel.plans['Double/Flexible'];
    const menu = sampleMenu();
    const date = dayAhead(40);
    const booked = await bookForHouse(service, hotel, { total_amount: 9_000 });
    assert.equal(total(booked), '9000.00');
    const refusals: [Answer, ...string[]][] = [
      [await staff('PUT', STAFF_MENU, menu), 'dishes.0.addons.0.price', 'dishes.1.price'],
      [await staff('PUT', `${STAFF_MENU}?dry_run=true`, menu), 'dishes.0.addons.0.price', 'dishes.1.price'],
      [await staff('PATCH', '/v1/staff/dishes/WATER/', { price: '1239.70' }), 'price'],
      [
        await staff('PATCH', '/v1/staff/dishes/WATER/', {
          price_variants: [{ name: 'Large', price: '1.01' }],
          addons: [{ name: 'Ice', price: '0.5' }],
        }),
        'price_variants.0.price',
        'addons.0.price',
      ],
      [
        await service.call('PUT', '/v1/channel-manager/pms/rates/', {
          headers: pms,
          json: {
            rate_plan_id: plan,
            rates: [
              { date, price: 1240 },
              { date, price: 1239.7 },
              { date, price: '0.01' },
            ],
          },
        }),
        'rates.1.price',
        'rates.2.price',
      ],
      [
        await owner('PATCH', '/v1/staff/rates/', { changes: [{ rate_plan_id: plan, date, price: '1239.70' }] }),
        'changes.0.price',
      ],
      [await owner('PATCH', `/v1/staff/rate-plans/${plan}/`, { base_price: '1239.70' }), 'base_price'],
      [await bookForHouse(service, hotel, { total_amount: '1239.70' }), 'total_amount'],
      [
        await staff('PATCH', `${STAFF_RESERVATIONS}${booked.body.reservation_id}/`, { total_amount: 1239.7 }),
        'total_amount',
      ],
    ];
    for (const [answer, ...paths] of refusals) {
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(
        faultsOf(answer),
        paths.map((path) => `${path}: ${NO_DECIMALS}`),
      );
    }
  });

  it('200: prices in whole yen are written, with or without two zeros after the point, and are shown with two zeros', async () => {
    const plan = hotel.plans['Suite/Suite rate'];
    const date = dayAhead(50);
    await writePlan(service, pms, 'rates', plan, [{ date, price: '1240.00' }]);
    const changes = [{ rate_plan_id: plan, date: dayAhead(51), price: '1240' }];
    const { body } = await owner('PATCH', '/v1/staff/rates/', { changes });
    assert.equal(body.changed[0].after.price, '1240.00');
    const quote = `${QUOTE}?room_type_id=${hotel.roomTypes['Suite']}&check_in=${date}&check_out=${dayAhead(52)}`;
    assert.equal(total(await service.call('GET', quote, { headers: hotel.partner })), '2480.00');
    const dish = await staff('PATCH', '/v1/staff/dishes/OFF/', { price: '1240.0' });
    assert.equal(dish.body.price, '1240.00');
  });

  it('201: the total of an order line with tax is rounded half up to whole yen, also in a quote', async () => {
    const lineOf = async (quantity: number) => {
      const json = { items: [{ item_id: 'PIZZA-1', quantity }] };
      const { body } = await service.call('POST', `${ORDERS}quote/`, { headers: hotel.partner, json });
      return [body.lines[0].total, body.total, body.currency];
    };
    // 1239 and 7.5 % of it are 1331.925. Two of them are 2663.85, and 20 of them are 26638.5.
    assert.deepEqual(await lineOf(1), ['1332.00', '1332.00', 'JPY']);
    assert.deepEqual(await lineOf(2), ['2664.00', '2664.00', 'JPY']);
    assert.deepEqual(await lineOf(20), ['26639.00', '26639.00', 'JPY']);
  });

  it('201, 200: the amount of an OTA is rounded half up to whole yen', async () => {
    const send = await openChannel(service, hotel);
    const stay = { external_id: 'rounded', check_in: dayAhead(10), check_out: dayAhead(13) };
    assert.equal(total(await send({ ...stay, total_amount: '1239.499' })), '1239.00');
    assert.equal(total(await send({ ...stay, total_amount: 1239.5, external_id: 'rounded up' })), '1240.00');
  });

  it('200: the report splits the amount of an OTA among the nights in whole yen', async () => {
    const of = await openHotel(service, inYen());
    const send = await openChannel(service, of);
    const sent = await send({ check_in: dayAhead(10), check_out: dayAhead(13), total_amount: 1000 });
    assert.equal(sent.status, 201, sent.text);
    const path = `/v1/staff/reports/days/?from=${dayAhead(10)}&to=${dayAhead(13)}`;
    const { body } = await service.call('GET', path, { headers: of.owner });
    assert.deepEqual(
      body.map((day: { room_revenue: string }) => day.room_revenue),
      ['333.00', '333.00', '334.00'],
    );
  });
});

describe('change of the currency of a tenant', () => {
  it('a change to yen without new prices is refused, and with new prices all new amounts are whole yen', async () => {
    const of = await openHotel(service);
    const headers = await pmsHeaders(service, of);
    const [checkIn, checkOut] = [dayAhead(20), dayAhead(22)];
    const rates = [{ date: checkIn, price: '1239.70' }];
    await writePlan(service, headers, 'rates', of.plans['Suite/Suite rate'], rates);
    const stay = await bookForHouse(service, of);
    assert.deepEqual([total(stay), stay.body.currency], ['160.00', 'EUR']);
    const { menu: _menu, properties: _properties, ...bare } = of.document;
    assert.deepEqual(await refusalOf({ ...bare, menu: undefined, currency: 'JPY' }), [
      'currency: has no decimals, but the stored prices in EUR may have some. Give "menu" and "properties" with prices in JPY',
    ]);
    await service.apply({ ...of.document, ...inYen() });
    const nights = { room_type_id: of.roomTypes['Suite'], check_in: checkIn, check_out: checkOut };
    const booked = await book(service, of, nights);
    assert.deepEqual([total(booked), booked.body.currency], ['1491.00', 'JPY']);
    const path = `${STAFF_RESERVATIONS}${stay.body.reservation_id}/`;
    const dearer = await service.call('PATCH', path, { headers: of.staff, json: { total_amount: '160.50' } });
    assert.deepEqual([total(dearer), dearer.body.currency], ['160.50', 'EUR']);
    const moved = await service.call('PATCH', path, { headers: of.staff, json: { check_out: dayAhead(33) } });
    assert.deepEqual([total(moved), moved.body.currency], ['240.00', 'JPY']);
  });
});
