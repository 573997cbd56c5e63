import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { dayAfter, dayAhead } from '#test/support/hotel.ts';
import { bookByPartner, hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { countWaiting } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';

/** Number of nights of a long write. A write of at most 100 nights is short. */
const MANY = 101;
/** Time in milliseconds in which a call usually gets its response if it does not wait for a long write. */
const SOON_MS = 400;

describe('calls that write many nights of one tenant', () => {
  let service: TestService;
  let hotel: ManagedHotel;
  let locked: string;
  let free: string;
  before(async () => {
    service = await startService();
  });
  beforeEach(async () => {
    hotel = await hotelTenant(service);
    locked = hotel.id('Harbour House', 'Double', 'Flexible');
    free = hotel.id('Harbour House', 'Double', 'Saver');
  });
  after(() => service.close());

  const write = ({ pms }: ManagedHotel, rate_plan_id: string, nights: number) => {
    const rates = Array.from({ length: nights }, (_, index) => ({ date: dayAfter('2101-01-01', index), price: 90 }));
    return service.call('PUT', `${PMS}/rates/`, { headers: pms, json: { rate_plan_id, rates } });
  };

  /**
   * Starts a long write, and runs `work` while the write waits for the rate plan, which a transaction of the test keeps locked. Then lets
   * the write end, and returns its response.
   */
  async function whileLongWriteHangs(work: () => Promise<void>): Promise<Answer> {
    const started = await service.database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM rate_plan WHERE tenant_id = ${hotel.tenantId} AND id = ${locked} FOR UPDATE`.execute(tx);
      const hanging = write(hotel, locked, MANY);
      await eventually(async () => (await countWaiting(service.database.db)) > 0, 'long write that waits for the plan');
      await work();
      return { hanging };
    });
    return await started.hanging;
  }

  it('200: a write of 101 rates waits until an earlier write of 101 rates of the same tenant has ended, even if the writes are for different rate plans', async () => {
    let second: Promise<Answer> | undefined;
    const first = await whileLongWriteHangs(async () => {
      second = write(hotel, free, MANY);
      const outcome = await Promise.race([second, sleep(SOON_MS)]);
      assert.equal(outcome, undefined, 'The second write must wait.');
    });
    assert.deepEqual([first.status, (await second)?.status], [200, 200]);
  });

  it('200, 201: a change of 101 nights by staff, a write of 101 restrictions and a booking of 101 nights wait until a write of 101 rates of the tenant has ended', async () => {
    const waiting: Promise<Answer>[] = [];
    await whileLongWriteHangs(async () => {
      const dates = Array.from({ length: MANY }, (_, index) => dayAfter('2101-01-01', index));
      const room_type_id = hotel.id('Harbour House', 'Double');
      const json = {
        staff: { changes: dates.map((date) => ({ rate_plan_id: free, date, price: '80.00' })) },
        restrictions: { rate_plan_id: free, restrictions: dates.map((date) => ({ date, stop_sell: true })) },
      };
      waiting.push(
        service.call('PATCH', '/v1/staff/rates/', { headers: hotel.owner, json: json.staff }),
        service.call('PUT', `${PMS}/restrictions/`, { headers: hotel.pms, json: json.restrictions }),
        bookByPartner(service, hotel, { room_type_id, check_in: dayAhead(1), check_out: dayAhead(1 + MANY) }),
      );
      const outcome = await Promise.race([...waiting, sleep(SOON_MS)]);
      assert.equal(outcome, undefined, 'The other writes must wait.');
    });
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 201]);
  });

  it('200: during a write of 101 rates, a write of 100 rates of the same tenant and a write of 101 rates of another tenant do not wait', async () => {
    const other = await hotelTenant(service);
    await whileLongWriteHangs(async () => {
      const short = await write(hotel, free, MANY - 1);
      const long = await write(other, other.id('Harbour House', 'Double', 'Saver'), MANY);
      assert.deepEqual([short.status, long.status], [200, 200]);
    });
  });
});
