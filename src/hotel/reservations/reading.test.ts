import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { book, dayAhead, openChannel, openHotel, RESERVATIONS, reservationPath } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { newId } from '#platform/lib/ids.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';

const { service, hotel } = await useHotel();

const list = (query = '', headers = hotel.partner) => service.call('GET', `${RESERVATIONS}${query}`, { headers });

describe('GET /v1/third-party/hotels/reservations/', () => {
  it('200: a credential without reservations gets an empty list and an empty page 1; 404: page 2 does not exist', async () => {
    const { partner } = await service.credential(hotel.tenantId);
    const whole = await list('', partner);
    assert.deepEqual([whole.status, whole.text], [200, '[]']);
    const page = await list('?page_size=1', partner);
    assert.deepEqual(page.body, { count: 0, next: null, previous: null, results: [] });
    assertError(await list('?page=2', partner), 404, 'error');
  });

  it('200: a partner reads only the reservations of its own credential, newest first, as a whole list or in pages', async () => {
    const own = await openHotel(service);
    const sibling = { ...own, ...(await service.credential(own.tenantId)) };
    const sendReservation = await openChannel(service, own);
    const booked = [];
    for (let count = 0; count < 5; count += 1) {
      // Later bookings have earlier dates of arrival, so the order of booking differs from the order of arrival.
      const dates = { check_in: dayAhead(40 - 3 * count), check_out: dayAhead(42 - 3 * count) };
      const room_type_id = own.roomTypes['Bunk'];
      booked.unshift((await book(service, own, { room_type_id, ...dates })).body);
      await book(service, sibling, { room_type_id });
      await book(service, hotel, { room_type_id: hotel.roomTypes['Bunk'] });
      await sendReservation({ room_type_id });
    }
    const last = booked.at(-1);
    await service.call('POST', reservationPath(last.external_reservation_id, 'cancel/'), { headers: own.partner });
    last.status = 'cancelled';
    const whole = await list('', own.partner);
    assert.match(whole.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(whole.body, booked, 'each entry is equal to its 201 response, with the present status');

    const pages = await Promise.all([1, 2, 3].map((page) => list(`?page=${page}&page_size=2`, own.partner)));
    assert.deepEqual(
      pages.flatMap((page) => page.body.results),
      booked,
    );
    const link = (page: number) => `${service.url}${RESERVATIONS}?page=${page}&page_size=2`;
    assert.deepEqual(
      pages.map(({ body }) => [body.count, body.previous, body.next]),
      [
        [5, null, link(2)],
        [5, link(1), link(3)],
        [5, link(2), null],
      ],
    );
    assertError(await list('?page=4&page_size=2', own.partner), 404, 'error');
    assert.equal(
      (await list('?page=1', own.partner)).body.results.length,
      5,
      'a page without page_size holds all 5 reservations',
    );
  });

  it('200: a list of 1,501 reservations is streamed completely and in order', async () => {
    const { credential, partner } = await service.credential(hotel.tenantId);
    const rows = Array.from({ length: 1_501 }, (_, index) => ({
      tenant_id: hotel.tenantId,
      id: newId(),
      natural_id: newNaturalId(),
      credential_id: credential.id,
      external_reservation_id: `${index} "quoted" 𝄞`,
      status: 'cancelled',
      room_type_id: hotel.roomTypes['Bunk'] ?? '',
      check_in: dayAhead(60),
      check_out: dayAhead(61),
      guests: 1,
      guest_name: 'Ana',
      guest_search_name: 'ana',
      total_amount: '25.00',
      currency: 'EUR',
      created_at: new Date(),
      changed_at: new Date(),
    }));
    await service.database.db.insertInto('reservation').values(rows).execute();
    const { headers, body } = await list('', partner);
    assert.equal(headers.get('content-length'), null);
    assert.deepEqual(
      body.map((row: { external_reservation_id: string }) => row.external_reservation_id),
      rows.map((row) => row.external_reservation_id).toReversed(),
    );
    const last = await list('?page=8&page_size=200', partner);
    assert.deepEqual([last.body.count, last.body.results.length, last.body.next], [1_501, 101, null]);
  });
});

describe('GET /v1/third-party/hotels/reservations/{external_reservation_id}/', () => {
  it('200: the path of a reservation may end with or without a slash', async () => {
    const { body } = await book(service, hotel, { external_reservation_id: 'one' });
    for (const path of [`${RESERVATIONS}one/`, `${RESERVATIONS}one`]) {
      const answer = await service.call('GET', path, { headers: hotel.partner });
      assert.deepEqual([answer.status, answer.body], [200, body]);
    }
  });

  it('200: a reservation can be read and cancelled if its external id has slashes, spaces, quotes or Chinese characters', async () => {
    for (const id of ['a/b', 'a b', '50%', '?x=1#y', '日本', "';--", '"', '\\', 'É', 'cancel', 'cancel/']) {
      const room_type_id = hotel.roomTypes['Lagoon Lodge/Double'];
      const { body } = await book(service, hotel, { external_reservation_id: id, room_type_id });
      const answer = await service.call('GET', reservationPath(id), { headers: hotel.partner });
      assert.deepEqual([answer.status, answer.body], [200, body], id);
      const cancelled = await service.call('POST', reservationPath(id, 'cancel/'), { headers: hotel.partner });
      assert.deepEqual(cancelled.body, { ...body, status: 'cancelled' });
    }
  });

  it('404: reads and cancellations get the same response if the path has an unknown id, a reservation_id, or an external id of another credential or of an OTA', async () => {
    const sibling = await service.credential(hotel.tenantId);
    const stranger = await openHotel(service);
    const sendReservation = await openChannel(service, hotel);
    await sendReservation({ external_id: 'of an ota', room_type_id: hotel.roomTypes['Bunk'] });
    const { body } = await book(service, hotel, {
      external_reservation_id: 'mine',
      room_type_id: hotel.roomTypes['Bunk'],
    });
    const texts = [];
    for (const [id, headers] of [
      ['unknown', hotel.partner],
      [body.reservation_id, hotel.partner],
      ['of an ota', hotel.partner],
      ['MINE', hotel.partner],
      ['mine', sibling.partner],
      ['mine', stranger.partner],
    ]) {
      for (const action of ['', 'cancel/']) {
        const answer = await service.call(action ? 'POST' : 'GET', reservationPath(id, action), { headers });
        assertError(answer, 404, 'reservation_not_found');
        texts.push(answer.text);
      }
    }
    assert.equal(new Set(texts).size, 1);
  });
});
