import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '#test/support/http.ts';
import { book, bookForHouse, openChannel, STAFF_RESERVATIONS } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

/** Invisible characters and spaces that people paste with a text. */
const MARK = '\uFEFF\u202A\u200E\u00A0 ';
const PHONE = '1'.repeat(20);
const PASTED = {
  name: `${MARK}می\u200Cخواهم${MARK}`,
  phone: `\u202A${PHONE}\u202C`,
  email: `${MARK}a@b.example${MARK}`,
};
const CLEAN = { name: 'می\u200Cخواهم', phone: PHONE, email: 'a@b.example' };

const { service, hotel } = await useHotel();

async function newest() {
  const { body } = await service.call('GET', `${STAFF_RESERVATIONS}?limit=1`, { headers: hotel.staff });
  return body.results[0].guest;
}

const WRITERS: Record<string, (guest: typeof PASTED) => Promise<Answer>> = {
  partner: (guest) => book(service, hotel, { room_type_id: hotel.roomTypes['Bunk'], guest }),
  staff: (guest) => bookForHouse(service, hotel, { room_type_id: hotel.roomTypes['Bunk'], guest }),
  ota: async ({ name: full_name, ...guest }) => {
    const send = await openChannel(service, hotel, 'an-ota');
    return await send({
      room_type_id: hotel.roomTypes['Bunk'],
      external_id: ` ${full_name}`,
      guest: { full_name, ...guest },
    });
  },
};

describe('name, phone and e-mail of a guest', () => {
  for (const [writer, write] of Object.entries(WRITERS)) {
    it(`201: spaces and invisible characters around the texts are not stored (${writer}), but those inside stay`, async () => {
      const answer = await write(PASTED);
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(await newest(), CLEAN);
    });

    it(`400: a name that consists of such characters is refused as an empty one (${writer})`, async () => {
      const { status, text } = await write({ ...PASTED, name: MARK });
      assert.equal(status, 400);
      assert.match(text, /guest\.(?:full_)?name: must not be empty/);
    });
  }

  it('200: a change of the guest by staff stores no spaces and invisible characters around the texts', async () => {
    const { body } = await bookForHouse(service, hotel, { guest: { name: 'Ana' } });
    const path = `${STAFF_RESERVATIONS}${body.reservation_id}/`;
    const change = (guest: object) => service.call('PATCH', path, { headers: hotel.staff, json: { guest } });
    const { status, text } = await change(PASTED);
    assert.equal(status, 200, text);
    assert.deepEqual(await newest(), CLEAN);
    assert.equal((await change({ email: MARK })).body.guest.email, null);
    assert.equal((await change({ phone: MARK })).status, 400);
  });

  it('200: a repeated booking whose guest is pasted with such characters is the same booking', async () => {
    const stay = { room_type_id: hotel.roomTypes['Bunk'], external_reservation_id: 'repeated' };
    const first = await book(service, hotel, { ...stay, guest: CLEAN });
    const second = await book(service, hotel, { ...stay, guest: PASTED });
    assert.deepEqual([first.status, second.status, second.body.reservation_id], [201, 200, first.body.reservation_id]);
  });
});
