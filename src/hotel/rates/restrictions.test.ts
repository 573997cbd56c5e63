import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { hotelTenant, PMS, type ManagedHotel } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();

describe('PUT /v1/channel-manager/pms/restrictions/', () => {
  let hotel: ManagedHotel;
  let plan: string;
  beforeEach(async () => {
    hotel = await hotelTenant(service);
    plan = hotel.id('Harbour House', 'Double', 'Flexible');
  });

  const put = (path: string, json: object) => service.call('PUT', `${PMS}/${path}/`, { headers: hotel.pms, json });
  const restrict = async (...restrictions: object[]): Promise<number> => {
    const answer = await put('restrictions', { rate_plan_id: plan, restrictions });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['updated']);
    return answer.body.updated;
  };
  const price = async (...rates: object[]) => {
    const answer = await put('rates', { rate_plan_id: plan, rates });
    assert.equal(answer.status, 200, answer.text);
  };
  /** Returns the prices of the first `count` nights of January 2030 as texts. A sold-out night has ` closed` after its price. */
  const nights = async (count: number): Promise<string[]> => {
    const query = `rate_plan_id=${plan}&check_in=2030-01-01&check_out=2030-01-0${count + 1}`;
    const { body } = await service.call('GET', `${PMS}/rates/?${query}`, { headers: hotel.pms });
    return body.map(
      (rate: { price: string; is_sold_out: boolean }) => rate.price + (rate.is_sold_out ? ' closed' : ''),
    );
  };
  const minNights = async (): Promise<number> => {
    const { body } = await service.call('GET', `${PMS}/properties/${hotel.id('Harbour House')}/room-types/`, {
      headers: hotel.pms,
    });
    const plans: { id: string; min_nights: number }[] = body[0].rate_plans;
    return plans.find(({ id }) => id === plan)?.min_nights ?? 0;
  };
  const changeBasePrice = async (base_price: string) => {
    const { users, menu, ...document } = structuredClone(hotel.document);
    const plans = document.properties?.[0]?.room_types?.[0]?.rate_plans;
    assert.ok(plans?.[0]);
    plans[0].base_price = base_price;
    await service.apply(document);
  };

  it('200: a restriction with stop_sell true closes its night, and one with stop_sell false or without stop_sell opens it', async () => {
    assert.equal(await restrict({ date: '2030-01-01', stop_sell: true }, { date: '2030-01-02', stop_sell: true }), 2);
    assert.deepEqual(await nights(3), ['100.00 closed', '100.00 closed', '100.00']);
    assert.equal(await restrict({ date: '2030-01-01' }, { date: '2030-01-02', stop_sell: false }), 2);
    assert.deepEqual(await nights(3), ['100.00', '100.00', '100.00']);
  });

  it('200: a restriction does not change the price that was written for its night', async () => {
    await price({ date: '2030-01-01', price: 140, is_sold_out: true }, { date: '2030-01-02', price: 150 });
    await restrict({ date: '2030-01-01' }, { date: '2030-01-02', stop_sell: true });
    assert.deepEqual(await nights(2), ['140.00', '150.00 closed']);
  });

  it('200: if the base price of a plan changes, a night with a restriction gets the new price, unless it has its own price', async () => {
    await price({ date: '2030-01-02', price: 150 });
    await restrict({ date: '2030-01-01', stop_sell: true }, { date: '2030-01-02', stop_sell: true });
    await changeBasePrice('111.00');
    assert.deepEqual(await nights(3), ['111.00 closed', '150.00 closed', '111.00']);
    await price({ date: '2030-01-01', price: 99 });
    await changeBasePrice('112.00');
    assert.deepEqual(await nights(3), ['99.00', '150.00 closed', '112.00']);
  });

  it('200: if several restrictions have the same date, the last one wins, but `updated` in the response counts them all', async () => {
    const date = '2030-01-01';
    assert.equal(await restrict({ date, stop_sell: true }, { date }, { date, stop_sell: true }), 3);
    assert.deepEqual(await nights(1), ['100.00 closed']);
    assert.equal(await restrict({ date, stop_sell: true }, { date }), 2);
    assert.deepEqual(await nights(1), ['100.00']);
  });

  it('200: if a call has several min_nights, the last one that is not null applies to the whole plan', async () => {
    assert.equal(await minNights(), 1);
    await restrict(
      { date: '2030-01-01', min_nights: 5 },
      { date: '2030-01-03', min_nights: 3 },
      { date: '2030-01-02', min_nights: null },
      { date: '2030-01-04' },
    );
    assert.equal(await minNights(), 3);
    const other = hotel.id('Harbour House', 'Double', 'Saver');
    assert.equal(
      (await service.database.db.selectFrom('rate_plan').select('min_nights').where('id', '=', other).execute())[0]
        ?.min_nights,
      2,
      'another plan keeps its min_nights',
    );
  });

  it('200: a null or missing min_nights changes nothing, and min_nights can be set back to 1', async () => {
    await restrict({ date: '2030-01-01', min_nights: 2_147_483_647 });
    await restrict({ date: '2030-01-01', min_nights: null }, { date: '2030-01-02' });
    assert.equal(await minNights(), 2_147_483_647);
    await restrict({ date: '2030-01-01', min_nights: 1 });
    assert.equal(await minNights(), 1);
  });

  it('200: a restriction may be written on an inactive plan', async () => {
    plan = hotel.id('Harbour House', 'Double', 'Closed for good');
    assert.equal(await restrict({ date: '2030-01-01', stop_sell: true }), 1);
    assert.deepEqual(await nights(1), ['1.00 closed']);
  });

  it('200: one call may write 1,000 restrictions', async () => {
    const date = (index: number) => new Date(Date.UTC(2030, 0, 1 + index)).toISOString().slice(0, 10);
    const entries = Array.from({ length: 1_000 }, (_, index) => ({ date: date(index % 900), stop_sell: index < 3 }));
    assert.equal(await restrict(...entries.toReversed()), 1_000);
    assert.deepEqual(await nights(4), ['100.00 closed', '100.00 closed', '100.00 closed', '100.00']);
  });

  it('400 invalid_request: if one restriction is invalid, the message names its position, and the call writes no restriction', async () => {
    const good = { date: '2030-01-01', stop_sell: true, min_nights: 4 };
    const bad: [object, RegExp][] = [
      [{ date: '2030-01-02', min_nights: 0 }, /^restrictions\.1\.min_nights: must be at least 1$/],
      [{ stop_sell: true }, /^restrictions\.1\.date: is required$/],
    ];
    for (const [entry, message] of bad) {
      const answer = await put('restrictions', { rate_plan_id: plan, restrictions: [good, entry] });
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], answer.text);
      assert.match(answer.body.message, message);
    }
    assert.deepEqual([await nights(2), await minNights()], [['100.00', '100.00'], 1]);
  });
});
