import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertNightCounters, bookForHouse, dayAhead, STAFF_RESERVATIONS } from '#test/support/hotel.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';
import { personOf, type Staff } from '#access/tenants/tenants.ts';
import { createNightReader } from '../nights/nights.ts';
import { createRateReader } from '../rates/rates.ts';
import { findRoomType } from '../rooms/rooms.ts';
import { createTransactionWithEvents } from '#webhooks/events/events.ts';
import { houseBooking, Reservations } from './reservations.ts';
import { changeStay } from './staff-stays.ts';

const { service, hotel } = await useHotel();

describe('writes of staff after a lost response to the COMMIT', () => {
  let loser: CommitProxy;
  let staff: Staff;
  let reservations: Reservations;
  before(async () => {
    loser = await startCommitProxy(service.database.url);
    reservations = new Reservations({
      db: loser.db,
      transactionWithEvents: createTransactionWithEvents(loser.db, null),
      findRoomType: async (tenantId, id) => await findRoomType(loser.db, tenantId, id),
      rates: createRateReader(loser.db),
      readHeldNights: createNightReader(loser.db),
    });
    const { db } = service.database;
    const user = await db
      .selectFrom('app_user')
      .selectAll()
      .where('tenant_id', '=', hotel.tenantId)
      .where('role', '=', 'staff')
      .executeTakeFirstOrThrow();
    const tenant = await db.selectFrom('tenant').selectAll().where('id', '=', hotel.tenantId).executeTakeFirstOrThrow();
    const now = new Date();
    staff = personOf({ ...user, tenant }, { kind: 'token', id: null, generation: 0, expiresAt: now, now });
  });
  after(async () => {
    await loser.close();
  });

  /** Runs the work. The response to its COMMIT is lost, as if the connection had failed. */
  async function losing<T>(work: () => Promise<T>): Promise<T> {
    await loser.db.selectFrom('tenant').select('id').execute();
    const earlier = loser.lostCount;
    loser.dropNextCommitResponse();
    const result = await work();
    assert.equal(loser.lostCount, earlier + 1);
    return result;
  }

  const entries = async (action: string, id: string) => {
    const body = await entriesOf(service, '/v1/staff/audit/', hotel.owner);
    return body.filter((entry: { action: string; subject: string }) => entry.action === action && entry.subject === id);
  };
  const read = async (id: string) =>
    (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: hotel.staff })).body;

  it('a booking is stored once, is reported as new and has one audit entry, even if the response to the COMMIT is lost', async () => {
    const dates = { check_in: dayAhead(30), check_out: dayAhead(32) };
    const room_type_id = hotel.roomTypes['Suite'] ?? '';
    const input = { request_id: crypto.randomUUID(), room_type_id, ...dates, guest: { name: 'Rui' } };
    const { row, isReplayed } = await losing(() => reservations.book(...houseBooking(staff, input)));
    const { id } = row;
    assert.equal(isReplayed, false);
    assert.equal((await read(id)).history.length, 1);
    assert.equal((await entries('reservation.booked', id)).length, 1);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('a change of dates with expected_changed_at succeeds and has one audit entry, even if the response to the COMMIT is lost', async () => {
    const { body } = await bookForHouse(service, hotel);
    const change = { check_out: dayAhead(34), expected_changed_at: body.changed_at };
    await losing(() => changeStay(loser.db, staff, body.reservation_id, change));
    assert.equal((await read(body.reservation_id)).check_out, dayAhead(34));
    assert.equal((await entries('reservation.changed', body.reservation_id)).length, 1);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('a change of the status succeeds and adds one entry to the history, even if the response to the COMMIT is lost', async () => {
    const { body } = await bookForHouse(service, hotel);
    const actor = { type: 'person', id: staff.id } as const;
    const change = { status: 'cancelled', expected_status: 'confirmed' } as const;
    await losing(() => reservations.changeStatus(hotel.tenantId, body.reservation_id, change, actor));
    const { status, history } = await read(body.reservation_id);
    assert.deepEqual([status, history.length], ['cancelled', 2]);
    await assertNightCounters(service, hotel.tenantId);
  });
});
