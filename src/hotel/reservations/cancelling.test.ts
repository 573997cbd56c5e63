import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { assertError } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  setStayStatus,
  openHotel,
  reservationPath,
  sellable,
  type TestHotel,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();

const cancel = (id: string, tenant: Pick<TestHotel, 'partner'> = hotel) =>
  service.call('POST', reservationPath(id, 'cancel/'), { headers: tenant.partner });

/**
 * Sets the status of the reservation to pending in the database, because no call of the API makes a partner's reservation pending. The
 * reservation still holds its nights.
 */
async function makePending(id: string): Promise<void> {
  await service.database.db.updateTable('reservation').set({ status: 'pending' }).where('id', '=', id).execute();
}

describe('POST /v1/third-party/hotels/reservations/{external_reservation_id}/cancel/', () => {
  it('200: a cancellation returns the reservation, releases its nights and writes the event reservation.cancelled', async () => {
    const own = await openHotel(service);
    const { body } = await book(service, own, { external_reservation_id: 'C-1' });
    const answer = await cancel('C-1', own);
    assert.deepEqual([answer.status, answer.body], [200, { ...body, status: 'cancelled' }]);
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(32)), [3, 3]);
    await assertNightCounters(service, own.tenantId);
    const events = await eventsOf(service, own.tenantId);
    assert.deepEqual(
      events.map(({ sent }) => sent),
      [['reservation.created', 'confirmed'] as const, ['reservation.cancelled', 'cancelled'] as const].map(
        ([event, status], index) => ({
          event,
          event_id: events[index]?.id,
          occurred_at: events[index]?.created_at.toISOString(),
          data: { reservation_id: body.reservation_id, external_reservation_id: 'C-1', status },
        }),
      ),
    );
  });

  it('200, 409: a confirmed, pending, expired or no_show reservation can be cancelled, but not a completed or cancelled reservation', async () => {
    const own = await openHotel(service);
    const ways: [string[], number][] = [
      [[], 200],
      [['pending'], 200],
      [['no_show'], 200],
      [['pending', 'expired'], 200],
      [['completed'], 409],
      [['cancelled'], 409],
    ];
    for (const [way, status] of ways) {
      const id = `by ${way.join(' and ')}`;
      const { body } = await book(service, own, { external_reservation_id: id });
      for (const step of way) {
        await (step === 'pending'
          ? makePending(body.reservation_id)
          : setStayStatus(service, own, body.reservation_id, step));
      }
      const earlier = (await eventsOf(service, own.tenantId)).length;
      const answer = await cancel(id, own);
      const last = way.at(-1) ?? 'confirmed';
      if (status === 200) {
        assert.deepEqual([answer.status, answer.body.status], [200, 'cancelled'], last);
      } else {
        assert.match(assertError(answer, 409, 'invalid_status_transition'), new RegExp(`\\b${last}\\b`));
      }
      const written = (await eventsOf(service, own.tenantId)).slice(earlier).map(({ sent }) => sent.event);
      assert.deepEqual(written, status === 200 ? ['reservation.cancelled'] : []);
      await assertNightCounters(service, own.tenantId);
    }
    // The completed stay still holds its nights. The 5 other stays are cancelled and hold no room. So 2 of the 3 rooms are sellable.
    assert.deepEqual(await sellable(service, own, own.roomTypes['Double'], dayAhead(30), dayAhead(32)), [2, 2]);
  });

  it('200: a reservation with past dates can be cancelled', async () => {
    const own = await openHotel(service);
    const { body } = await book(service, own, { external_reservation_id: 'gone by' });
    const { db } = service.database;
    await sql`UPDATE reservation SET check_in = check_in - 40, check_out = check_out - 40 WHERE id = ${body.reservation_id}`.execute(
      db,
    );
    await sql`UPDATE night SET date = date - 40 WHERE tenant_id = ${own.tenantId}`.execute(db);
    await assertNightCounters(service, own.tenantId);
    assert.equal((await cancel('gone by', own)).status, 200);
    await assertNightCounters(service, own.tenantId);
  });
});
