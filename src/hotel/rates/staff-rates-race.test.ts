import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { countByStatus } from '#test/support/answers.ts';
import { hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import { startCommitProxy } from '#test/support/lost-commit.ts';
import { useService } from '#test/support/shared-service.ts';
import { countDeadlocks } from '#test/support/statements.ts';
import { entriesOf } from '#test/support/lists.ts';
import { changeRates } from './rate-changes.ts';
import type { ChangedNight, NightState } from './staff-schema.ts';

const service = await useService();

const DAYS = 40;
const day = (index: number) => new Date(Date.UTC(2101, 0, 1 + index)).toISOString().slice(0, 10);
const days = Array.from({ length: DAYS }, (_, index) => day(index));

describe('concurrent changes of rates by staff and by a PMS', () => {
  let hotel: ManagedHotel;
  let plans: string[];
  beforeEach(async () => {
    hotel = await hotelTenant(service);
    plans = ['Flexible', 'Saver'].map((name) => hotel.id('Harbour House', 'Double', name));
  });

  const byStaff = (changes: object[]) =>
    service.call('PATCH', '/v1/staff/rates/', { headers: hotel.owner, json: { changes } });
  const byPms = (plan: string, price: number, is_sold_out: boolean) =>
    service.call('PUT', `${PMS}/rates/`, {
      headers: hotel.pms,
      json: { rate_plan_id: plan, rates: days.toReversed().map((date) => ({ date, price, is_sold_out })) },
    });
  const read = async (plan: string): Promise<NightState[]> => {
    const query = `rate_plan_id=${plan}&check_in=${day(0)}&check_out=${day(DAYS)}`;
    const { body } = await service.call('GET', `${PMS}/rates/?${query}`, { headers: hotel.pms });
    return body.map(({ price, is_sold_out }: NightState) => ({ price, is_sold_out }));
  };

  it('200: in 20 rounds, a concurrent write of a PMS and a change by staff end as if they had run one after the other', async () => {
    const [plan = ''] = plans;
    let previous: NightState = { price: '100.00', is_sold_out: false };
    for (let round = 0; round < 20; round += 1) {
      // Staff set `is_sold_out` to true and do not change the price. The PMS sets `is_sold_out` to false and writes a new price. So after
      // both calls, `is_sold_out` shows which call was the last, and the price is always the price of the PMS.
      const changes = days.map((date) => ({ rate_plan_id: plan, date, is_sold_out: true }));
      const [staff, pms] = await Promise.all([byStaff(changes), byPms(plan, 200 + round, false)]);
      assert.deepEqual([staff.status, pms.status], [200, 200], staff.text + pms.text);
      const [first, ...others] = await read(plan);
      assert.ok(first);
      others.forEach((other) => assert.deepEqual(other, first));
      assert.equal(first.price, `${200 + round}.00`);
      // The response to staff contains the price before their change. If staff wrote first, this is the price that was stored before both
      // calls. If the PMS wrote first, it is the new price of the PMS.
      const changed = staff.body.changed[0] as ChangedNight;
      const isStaffLast = first.is_sold_out;
      const seen = isStaffLast ? `${200 + round}.00` : previous.price;
      assert.equal(changed.before.price ?? '100.00', seen);
      await byPms(plan, 200 + round, false);
      previous = { price: first.price, is_sold_out: false };
    }
  });

  it('200, 409: of 20 concurrent changes with the same expected values, one succeeds and the others are refused', async () => {
    const expected = { price: null, is_sold_out: false };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, writer) => {
        const order = writer % 2 === 0 ? days : days.toReversed();
        return byStaff(
          order.flatMap((date) =>
            plans.map((plan) => ({ rate_plan_id: plan, date, price: `${300 + writer}.00`, expected })),
          ),
        );
      }),
    );
    assert.deepEqual(countByStatus(answers), { 200: 1, 409: 19 });
    for (const plan of plans) {
      assert.equal(new Set((await read(plan)).map(({ price }) => price)).size, 1);
    }
  });

  it('200: 30 concurrent changes of several plans in different orders cause no deadlock', async () => {
    const earlier = await countDeadlocks(service.database.db);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, writer) => {
        const order = writer % 2 === 0 ? plans : plans.toReversed();
        return writer % 3 === 0
          ? byPms(order[0] ?? '', 400 + writer, false)
          : byStaff(
              order.flatMap((plan) => days.map((date) => ({ rate_plan_id: plan, date, price: `${400 + writer}.00` }))),
            );
      }),
    );
    assert.deepEqual(countByStatus(answers), { 200: 30 });
    assert.equal(await countDeadlocks(service.database.db), earlier);
  });

  it('if the response to the COMMIT of a change is lost, the change is made once, and returns the changed nights', async (test) => {
    const proxy = await startCommitProxy(service.database.url);
    test.after(() => proxy.close());
    const [plan = ''] = plans;
    const actor = { tenantId: hotel.tenantId, type: 'operator', id: null } as const;
    const expected = { price: null, is_sold_out: false };
    const entry = { rate_plan_id: plan, date: day(0), price: '70.00', expected };
    proxy.dropNextCommitResponse();
    const { changed } = await changeRates(proxy.db, actor, { changes: [entry] });
    assert.equal(proxy.lostCount, 1);
    assert.deepEqual(changed, [
      { rate_plan_id: plan, date: day(0), before: expected, after: { price: '70.00', is_sold_out: false } },
    ]);
    const body = await entriesOf(service, '/v1/staff/audit/', hotel.owner);
    assert.equal(body.filter(({ action }: { action: string }) => action === 'rates.changed').length, 1);
  });
});
