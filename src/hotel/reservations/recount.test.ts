import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { book, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { createDatabase } from '#platform/db/database.ts';
import { recount } from './reservations.ts';

let service: TestService;
let hotel: TestHotel;
before(async () => {
  service = await startService();
  hotel = await openHotel(service);
});
after(() => service.close());

const count = (tenantId = hotel.tenantId, db = service.database.db) => recount(db, tenantId);

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

  it('the recount of correct night counters finds no difference, even in a database time zone where a day has no midnight', async () => {
    const own = await openHotel(service);
    // In Santiago the clocks change from midnight to one o'clock on one day a year, so that day has no midnight. This stay of two years
    // includes such days.
    await book(service, own, { check_in: '2090-01-01', check_out: '2092-01-01' });
    for (const timezone of ['America/Santiago', 'Africa/Cairo', 'Pacific/Kiritimati']) {
      const url = new URL(service.database.url);
      url.searchParams.set('options', `-c timezone=${timezone}`);
      const db = createDatabase({ url: url.href, poolSize: 1 });
      const { rows } = await sql<{ TimeZone: string }>`SHOW timezone`.execute(db);
      assert.equal(rows[0]?.TimeZone, timezone);
      assert.deepEqual(await count(own.tenantId, db), { nights: 730, differences: [] }, timezone);
      await db.destroy();
    }
  });
});
