import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import type { Answer } from '#test/support/http.ts';
import {
  assertNightCounters,
  book,
  bookForHouse,
  dayAfter,
  dayAhead,
  eventsOf,
  onOneDay,
  openChannel,
  openHotel,
  openHotelOf,
  reservationPath,
  sellable,
  setStayStatus,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

const service = await useService();

const ZONE = 'Europe/Lisbon';

const path = (id: string) => `${STAFF_RESERVATIONS}${id}/`;
const change = (hotel: TestHotel, id: string, json: Record<string, unknown>) =>
  service.call('PATCH', path(id), { headers: hotel.staff, json });
const read = async (hotel: TestHotel, id: string) =>
  (await service.call('GET', path(id), { headers: hotel.staff })).body;
const free = (hotel: TestHotel, today: string, nights = 4) =>
  sellable(service, hotel, hotel.roomTypes['Double'], today, dayAfter(today, nights));

async function changed(hotel: TestHotel, id: string, json: Record<string, unknown>) {
  const { status, text, body } = await change(hotel, id, json);
  assert.equal(status, 200, text);
  return body;
}

function idOf({ status, text, body }: Answer): string {
  assert.equal(status, 201, text);
  return body.reservation_id ?? body.id;
}

/** Functions that book a stay in the room type Double, by the source of the stay. Each returns the id of the stay. */
const BOOKERS: Record<string, (hotel: TestHotel, stay: Record<string, unknown>) => Promise<string>> = {
  partner: async (hotel, stay) => idOf(await book(service, hotel, stay)),
  ota: async (hotel, stay) =>
    idOf(await (await openChannel(service, hotel))({ external_id: crypto.randomUUID(), ...stay })),
  house: async (hotel, stay) => idOf(await bookForHouse(service, hotel, stay)),
};

async function auditOf(hotel: TestHotel, id: string) {
  const body = await entriesOf(service, `/v1/staff/audit/?subject=${id}`, hotel.owner);
  return body
    .filter(({ action }: { action: string }) => action === 'reservation.changed')
    .map(({ details }: { details: { fields: object[] } }) => details.fields);
}

describe('PATCH /v1/staff/reservations/{id}/ with an earlier check_out', () => {
  for (const [source, bookStay] of Object.entries(BOOKERS)) {
    for (const status of ['confirmed', 'completed']) {
      it(`200: a ${status} stay with the source ${source} ends early; the nights after it become free once, the amount stays, no event is written`, async () => {
        await onOneDay(ZONE, async (today) => {
          const hotel = await openHotel(service);
          const id = await bookStay(hotel, { check_in: today, check_out: dayAfter(today, 4) });
          if (status === 'completed') {
            await setStayStatus(service, hotel, id, status);
          }
          const stay = await read(hotel, id);
          const events = await eventsOf(service, hotel.tenantId);
          assert.deepEqual(await free(hotel, today), [2, 2, 2, 2]);
          const check_out = dayAfter(today, 2);
          const ended = await changed(hotel, id, { check_out, expected_changed_at: stay.changed_at });
          const { changed_at, ...shown } = ended;
          assert.deepEqual({ ...shown, changed_at: stay.changed_at }, { ...stay, check_out, nightly_prices: null });
          assert.ok(changed_at > stay.changed_at);
          for (let repeat = 0; repeat < 2; repeat += 1) {
            assert.deepEqual(await free(hotel, today), [2, 2, 3, 3]);
            await assertNightCounters(service, hotel.tenantId);
            assert.deepEqual(await changed(hotel, id, { check_out }), ended, 'the same change again changes nothing');
          }
          assert.deepEqual(await eventsOf(service, hotel.tenantId), events);
          assert.deepEqual(await auditOf(hotel, id), [
            [{ field: 'check_out', from: dayAfter(today, 4), to: check_out }],
          ]);
        });
      });
    }
  }

  it('200: the history of a freed night shows who ended the stay, the partner sees the new check_out, and a later cancel frees the other nights once', async () => {
    const hotel = await openHotel(service);
    const { body } = await book(service, hotel, { check_in: dayAhead(30), check_out: dayAhead(33) });
    await changed(hotel, body.reservation_id, { check_out: dayAhead(31) });
    const night = `/v1/staff/nights/${hotel.roomTypes['Double']}/${dayAhead(32)}/`;
    const { body: shown } = await service.call('GET', night, { headers: hotel.staff });
    assert.deepEqual(
      shown.history.map(({ what, by, held_after }: { what: string; by: { type: string }; held_after: number }) => [
        what,
        by.type,
        held_after,
      ]),
      [
        ['changed', 'person', 0],
        ['booked', 'partner', 1],
      ],
    );
    const partnerPath = reservationPath(body.external_reservation_id);
    const { body: seen } = await service.call('GET', partnerPath, { headers: hotel.partner });
    assert.deepEqual(seen, { ...body, check_out: dayAhead(31) });
    await service.call('POST', `${partnerPath}cancel/`, { headers: hotel.partner });
    assert.deepEqual(await free(hotel, dayAhead(30)), [3, 3, 3, 3]);
    await assertNightCounters(service, hotel.tenantId);
    assertError(
      await change(hotel, body.reservation_id, { check_out: dayAhead(31) }),
      409,
      'invalid_status_transition',
    );
  });

  it('400: a check_out before today at the property, or without a night, is refused, in every time zone; 200: today is accepted', async () => {
    for (const zone of ['Pacific/Kiritimati', ZONE, 'Pacific/Pago_Pago']) {
      await onOneDay(zone, async (today) => {
        const hotel = await openHotelOf(service, 3, zone);
        const send = await openChannel(service, hotel);
        const dates = { check_in: dayAfter(today, -2), check_out: dayAfter(today, 2) };
        const id = idOf(await send({ external_id: 'O', ...dates }));
        const stay = await read(hotel, id);
        for (const check_out of [-1, -2, -3].map((days) => dayAfter(today, days))) {
          assert.match(
            faultsOf(await change(hotel, id, { check_out })).join(),
            /^check_out: must (?:not be before|be after)/,
          );
        }
        assert.deepEqual(await read(hotel, id), stay);
        await changed(hotel, id, { check_out: today });
        assert.deepEqual(await free(hotel, dates.check_in), [2, 2, 3, 3]);
        const future = idOf(await send({ external_id: 'P', check_in: today, check_out: dayAfter(today, 1) }));
        assert.match(faultsOf(await change(hotel, future, { check_out: today })).join(), /^check_out: must be after/);
        await assertNightCounters(service, hotel.tenantId);
      });
    }
  });

  it('409: a later check_out, another field, another status or an outdated expected_changed_at is refused and changes nothing', async () => {
    const hotel = await openHotel(service);
    const dates = { check_in: dayAhead(30), check_out: dayAhead(34) };
    const earlier = { check_out: dayAhead(32) };
    const send = await openChannel(service, hotel);
    const ids = [
      idOf(await book(service, hotel, dates)),
      idOf(await send({ external_id: 'O', ...dates })),
      idOf(await bookForHouse(service, hotel, dates)),
    ];
    await setStayStatus(service, hotel, ids[2] ?? '', 'completed');
    const others = [
      {},
      { check_out: dayAhead(35) },
      { ...earlier, check_in: dates.check_in },
      { ...earlier, room_type_id: hotel.roomTypes['Double'] },
      { ...earlier, guests: 1 },
      { ...earlier, guest: {} },
      { ...earlier, total_amount: '1.00' },
      { ...earlier, overbook: true },
      { ...earlier, expected_changed_at: '2026-11-20T19:05:31.207Z' },
    ];
    for (const id of ids) {
      const stay = await read(hotel, id);
      for (const json of others) {
        assertError(await change(hotel, id, json), 409, 'invalid_status_transition');
      }
      assert.deepEqual(await read(hotel, id), stay);
      assert.deepEqual(await auditOf(hotel, id), []);
    }
    const pending = idOf(
      await send({ external_id: 'P', ...dates, room_type_id: hotel.roomTypes['Bunk'], status: 'pending' }),
    );
    assertError(await change(hotel, pending, earlier), 409, 'invalid_status_transition');
    for (const status of ['no_show', 'cancelled']) {
      const id = idOf(await book(service, hotel, { ...dates, room_type_id: hotel.roomTypes['Bunk'] }));
      await setStayStatus(service, hotel, id, status);
      assertError(await change(hotel, id, earlier), 409, 'invalid_status_transition');
    }
    await assertNightCounters(service, hotel.tenantId);
  });

  it('200: a stay of the hotel itself keeps its amount only if it has begun and the body has nothing but check_out', async () => {
    await onOneDay(ZONE, async (today) => {
      const hotel = await openHotel(service);
      const dates = { check_in: dayAfter(today, -1), check_out: dayAfter(today, 3), total_amount: '500.00' };
      const begun = idOf(await bookForHouse(service, hotel, dates));
      const { total_amount, nightly_prices } = await changed(hotel, begun, { check_out: today });
      assert.deepEqual([total_amount, nightly_prices], ['500.00', null], 'one night, although the plan asks for two');
      const agreed = idOf(await bookForHouse(service, hotel, dates));
      const both = await changed(hotel, agreed, { check_out: dayAfter(today, 1), total_amount: '300.00' });
      assert.equal(both.total_amount, '300.00');
      const priced = await changed(hotel, agreed, { check_out: today, guests: 2 });
      assert.deepEqual([priced.total_amount, priced.guests], ['100.00', 2]);
      const coming = idOf(await bookForHouse(service, hotel, { check_in: dayAhead(30), check_out: dayAhead(34) }));
      assert.equal((await changed(hotel, coming, { check_out: dayAhead(32) })).total_amount, '160.00');
      await assertNightCounters(service, hotel.tenantId);
    });
  });
});
