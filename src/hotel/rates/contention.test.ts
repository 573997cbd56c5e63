import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';
import { countDeadlocks } from '#test/support/statements.ts';

const service = await useService();

const isCluster = await isTestCluster();
const DAYS = 60;
const day = (index: number) => new Date(Date.UTC(2030, 0, 1 + index)).toISOString().slice(0, 10);

interface Rate {
  price: string;
  is_sold_out: boolean;
}

describe('concurrent writes of rates and restrictions of one rate plan', () => {
  let hotel: ManagedHotel;
  let plan: string;
  before(async () => {
    hotel = await hotelTenant(service);
    plan = hotel.id('Harbour House', 'Double', 'Flexible');
  });

  const put = (list: 'rates' | 'restrictions', entries: object[]) =>
    service.call('PUT', `${PMS}/${list}/`, { headers: hotel.pms, json: { rate_plan_id: plan, [list]: entries } });
  const read = async (): Promise<Rate[]> => {
    const query = `rate_plan_id=${plan}&check_in=${day(0)}&check_out=${day(DAYS)}`;
    return (await service.call('GET', `${PMS}/rates/?${query}`, { headers: hotel.pms })).body;
  };
  /** Returns all days of the test, in an order that depends on `index`. So concurrent writers send the same dates in different orders. */
  const daysFrom = (index: number) => {
    const days = Array.from({ length: DAYS }, (_, step) => day((index * 7 + step) % DAYS));
    return index % 2 === 0 ? days : days.toReversed();
  };

  it('200: after 30 concurrent writes of the same dates, the prices of all dates are from the same write', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, writer) =>
        put(
          'rates',
          daysFrom(writer).map((date) => ({ date, price: 100 + writer })),
        ),
      ),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    assert.equal(new Set((await read()).map((rate) => rate.price)).size, 1);
  });

  it('200: 40 concurrent writes of rates and restrictions for overlapping dates cause no deadlock, and no price is lost', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, writer) => {
        const days = daysFrom(writer).slice(0, 20 + writer);
        return writer % 2 === 0
          ? put(
              'rates',
              days.map((date) => ({ date, price: 200 })),
            )
          : put(
              'restrictions',
              days.map((date) => ({ date, stop_sell: true, min_nights: writer })),
            );
      }),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    const prices = new Set((await read()).map((rate) => rate.price));
    assert.deepEqual(prices, new Set(['200.00']), 'a restriction never removes the price of a night');
    assert.equal(await countDeadlocks(service.database.db), 0);
  });

  it('200: if rates or restrictions are sent again, only the rows whose values have changed are written', {
    skip: isCluster && 'a cluster does not show the versions of rows',
  }, async () => {
    const versions = async () => {
      const { rows } = await sql<{ version: string }>`
        SELECT xmin::text AS version FROM rate
        WHERE tenant_id = ${hotel.tenantId} AND rate_plan_id = ${plan} AND date >= ${day(0)} ORDER BY date
      `.execute(service.database.db);
      return rows.map(({ version }) => version);
    };
    const calendar = Array.from({ length: 20 }, (_, index) => ({ date: day(index), price: 300, is_sold_out: false }));
    assert.equal((await put('rates', calendar)).status, 200);
    const earlier = await versions();
    const changed = calendar.with(3, { date: day(3), price: 301, is_sold_out: false });
    assert.equal((await put('rates', changed)).body.length, 20, 'the response also lists the unchanged dates');
    const closed = [3, 4].map((index) => ({ date: day(index), stop_sell: index === 4 }));
    assert.equal((await put('restrictions', closed)).status, 200);
    const written = [...(await versions()).entries()].filter(([index, version]) => version !== earlier[index]);
    assert.deepEqual(
      written.map(([index]) => index),
      [3, 4],
    );
    assert.deepEqual(
      (await read()).slice(2, 6).map(({ price, is_sold_out }) => [price, is_sold_out]),
      [
        ['300.00', false],
        ['301.00', false],
        ['300.00', true],
        ['300.00', false],
      ],
    );
  });
});
