import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { assertNightCounters, book, dayAhead, openHotel, openHotelOf, type TestHotel } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { countWaiting } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { moveHold } from '../nights/nights.ts';
import { recount, repairNights } from './reservations.ts';

const { service, hotel } = await useHotel();

const count = (tenantId = hotel.tenantId) => recount(service.database.db, tenantId);

describe('recount of night counters', () => {
  it('if a hotel has no reservations, the recount of night counters compares 0 nights', async () => {
    assert.deepEqual(await count(), { nights: 0, differences: [] });
  });

  it('the recount compares night counters with reservations for each night that the reservations of the tenant hold, but for no night of another tenant', async () => {
    const other = await openHotel(service);
    await book(service, other);
    for (const days of [0, 1, 1]) {
      await book(service, hotel, { check_in: dayAhead(30 + days), check_out: dayAhead(33 + days) });
    }
    assert.deepEqual(await count(), { nights: 4, differences: [] });
  });

  it('the recount finds a night counter that is too high, too low or missing, or that belongs to a night without reservations', async () => {
    const { db } = service.database;
    const own = await openHotel(service);
    await book(service, own, { check_in: dayAhead(30), check_out: dayAhead(33) });
    const ofOwn = db.updateTable('night').where('tenant_id', '=', own.tenantId);
    await ofOwn.set({ held: 2 }).where('date', '=', dayAhead(30)).execute();
    await ofOwn.set({ held: 0 }).where('date', '=', dayAhead(31)).execute();
    const missing = db.deleteFrom('night').where('tenant_id', '=', own.tenantId);
    await missing.where('date', '=', dayAhead(32)).execute();
    const room_type_id = own.roomTypes['Double'] ?? '';
    const extra = { tenant_id: own.tenantId, room_type_id, date: dayAhead(33), held: -1 };
    await db.insertInto('night').values(extra).execute();
    const counted = { room_type_id };
    assert.deepEqual(await count(own.tenantId), {
      nights: 4,
      differences: [
        { ...counted, date: dayAhead(30), held: 2, counted: 1 },
        { ...counted, date: dayAhead(31), held: 0, counted: 1 },
        { ...counted, date: dayAhead(32), held: 0, counted: 1 },
        { ...counted, date: dayAhead(33), held: -1, counted: 0 },
      ],
    });
  });

  it('the recount of correct night counters finds no difference, even in a time zone where a day has no midnight', async () => {
    const own = await openHotel(service);
    // In Santiago the clocks change from midnight to one o'clock on one day a year, so that day has no midnight. This stay of two years
    // includes such days.
    await book(service, own, { check_in: '2090-01-01', check_out: '2092-01-01' });
    for (const timezone of ['America/Santiago', 'Africa/Cairo', 'Pacific/Kiritimati']) {
      const counted = await inTransaction(service.database.db, async (tx) => {
        await sql`SELECT set_config('timezone', ${sql.lit(timezone)}, true)`.execute(tx);
        return await recount(tx, own.tenantId);
      });
      assert.deepEqual(counted, { nights: 730, differences: [] }, timezone);
    }
  });
});

describe('repair of night counters', () => {
  async function falsify({ tenantId }: TestHotel, days: number, held: number): Promise<void> {
    const night = service.database.db.updateTable('night').set({ held }).where('tenant_id', '=', tenantId);
    await night.where('date', '=', dayAhead(days)).execute();
  }

  const heldOn = async ({ tenantId }: TestHotel, days: number) => {
    const night = service.database.db.selectFrom('night').select('held').where('tenant_id', '=', tenantId);
    return (await night.where('date', '=', dayAhead(days)).executeTakeFirst())?.held;
  };

  it('the repair corrects each counter that is too high, too low or missing, returns its old and its new value, and changes no counter of another tenant', async () => {
    const [own, other] = [await openHotel(service), await openHotel(service)];
    for (const each of [own, other]) {
      await book(service, each, { check_in: dayAhead(30), check_out: dayAhead(34) });
      await falsify(each, 30, 5);
    }
    await falsify(own, 31, -1);
    const missing = service.database.db.deleteFrom('night').where('tenant_id', '=', own.tenantId);
    await missing.where('date', '=', dayAhead(32)).execute();
    const night = { room_type_id: own.roomTypes['Double'] ?? '', counted: 1 };
    assert.deepEqual(await repairNights(service.database.db, own.tenantId), {
      nights: 4,
      differences: [
        { ...night, date: dayAhead(30), held: 5 },
        { ...night, date: dayAhead(31), held: -1 },
        { ...night, date: dayAhead(32), held: 0 },
      ],
    });
    await assertNightCounters(service, own.tenantId);
    assert.equal(await heldOn(other, 30), 5);
    assert.deepEqual(await repairNights(service.database.db, own.tenantId), { nights: 4, differences: [] });
  });

  it('if a stay is cancelled while the repair runs, the repair waits for the cancellation and corrects the counter to the reservations that are left', async () => {
    const { db } = service.database;
    const own = await openHotel(service);
    const room_type_id = own.roomTypes['Double'] ?? '';
    const hold = { tenant_id: own.tenantId, room_type_id, check_in: dayAhead(30), check_out: dayAhead(31) };
    for (let made = 0; made < 2; made += 1) {
      await book(service, own, { check_in: hold.check_in, check_out: hold.check_out });
    }
    await falsify(own, 30, 7);
    let repair: ReturnType<typeof repairNights> | undefined;
    await inTransaction(db, async (tx) => {
      const [stay] = await tx.selectFrom('reservation').select('id').where('tenant_id', '=', own.tenantId).execute();
      const cancelled = tx
        .updateTable('reservation')
        .set({ status: 'cancelled' })
        .where('tenant_id', '=', own.tenantId);
      await cancelled.where('id', '=', stay?.id ?? '').execute();
      await moveHold(tx, hold, null);
      repair = repairNights(db, own.tenantId);
      await eventually(async () => (await countWaiting(db)) > 0, 'repair that waits for the lock of the night');
    });
    const night = { room_type_id: hold.room_type_id, date: hold.check_in };
    assert.deepEqual(await repair, { nights: 1, differences: [{ ...night, held: 6, counted: 1 }] });
    assert.equal(await heldOn(own, 30), 1);
  });

  it('if three repairs run at the same time, each wrong counter is corrected once', async () => {
    const own = await openHotel(service);
    await book(service, own, { check_in: dayAhead(30), check_out: dayAhead(33) });
    for (const days of [30, 31, 32]) {
      await falsify(own, days, 4);
    }
    const repairs = await Promise.all(Array.from({ length: 3 }, () => repairNights(service.database.db, own.tenantId)));
    await assertNightCounters(service, own.tenantId);
    assert.equal(repairs.flatMap(({ differences }) => differences).length, 3);
  });

  it('201, 409: while repairs run again and again, each of 30 concurrent bookings is accepted or refused, and no night is sold beyond its capacity', async () => {
    const own = await openHotelOf(service, 10);
    await book(service, own, { check_in: dayAhead(30), check_out: dayAhead(33) });
    let isBooking = true;
    const repairing = (async () => {
      for (let round = 0; isBooking; round += 1) {
        await sql`UPDATE night SET held = held + 1 WHERE tenant_id = ${own.tenantId} AND date = ${dayAhead(30 + (round % 3))}`.execute(
          service.database.db,
        );
        await repairNights(service.database.db, own.tenantId);
      }
    })();
    const booking = Promise.all(
      Array.from({ length: 30 }, () => book(service, own, { check_in: dayAhead(30), check_out: dayAhead(33) })),
    ).finally(() => (isBooking = false));
    const [answers] = await Promise.all([booking, repairing]);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 201 && status !== 409),
      [],
    );
    assert.ok(answers.filter(({ status }) => status === 201).length <= 9);
    await assertNightCounters(service, own.tenantId);
    assert.ok(((await heldOn(own, 31)) ?? 0) <= 10);
  });
});
