import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { dayAhead, openChannel, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

let hotel: TestHotel;
let double: string;
let suite: string;
const service = await useService();
beforeEach(async () => {
  hotel = await openHotel(service);
  double = hotel.roomTypes['Double'] ?? '';
  suite = hotel.roomTypes['Suite'] ?? '';
});

const listed = (query = '', headers = hotel.staff, limit = 100) =>
  entriesOf(service, `/v1/staff/nights/oversold/${query}`, headers, limit);

/** Sends stays of an OTA, which the service accepts even if no room is left. */
async function oversell(stays: { room_type_id: string; from: number; to: number }[], of = hotel): Promise<void> {
  const send = await openChannel(service, of, `ota-${of.tenantId}`);
  for (const { room_type_id, from, to } of stays) {
    const sent = await send({ room_type_id, check_in: dayAhead(from), check_out: dayAhead(to) });
    assert.equal(sent.status, 201, sent.text);
  }
}

describe('GET /v1/staff/nights/oversold/', () => {
  it('200: the list has the nights with more held rooms than the capacity, sorted by room type and date', async () => {
    await oversell([
      { room_type_id: suite, from: 30, to: 33 },
      { room_type_id: suite, from: 31, to: 34 },
      { room_type_id: double, from: 30, to: 31 },
    ]);
    const oversold = { room_type_id: suite, capacity: 1, held: 2 };
    assert.deepEqual(await listed(), [
      { ...oversold, date: dayAhead(31) },
      { ...oversold, date: dayAhead(32) },
    ]);
    const path = `/v1/staff/room-types/${double}/`;
    await service.call('PATCH', path, { headers: hotel.owner, json: { physical_capacity: 0 } });
    const all = [
      { ...oversold, date: dayAhead(31) },
      { ...oversold, date: dayAhead(32) },
      { room_type_id: double, capacity: 0, held: 1, date: dayAhead(30) },
    ];
    const sorted = all.toSorted((a, b) => (a.room_type_id + a.date < b.room_type_id + b.date ? -1 : 1));
    assert.deepEqual(await listed(), sorted);
  });

  it('200: the list of oversold nights has no night before the date `from`, and if `from` is missing, no night before today', async () => {
    await oversell([
      { room_type_id: suite, from: -5, to: 32 },
      { room_type_id: suite, from: -5, to: 32 },
    ]);
    const first = async (query?: string) => (await listed(query))[0].date;
    assert.equal(await first(`?from=${dayAhead(31)}`), dayAhead(31));
    assert.equal((await listed(`?from=${dayAhead(31)}`)).length, 1);
    assert.equal(await first(`?from=${dayAhead(-9)}`), dayAhead(-5));
    assert.ok([dayAhead(-1), dayAhead(0), dayAhead(1)].includes(await first()));
    assert.deepEqual(await listed(`?from=${dayAhead(32)}`), []);
  });

  it('200: a list of 600 nights has each night once, sorted by room type and date', async () => {
    await oversell([
      { room_type_id: suite, from: 30, to: 330 },
      { room_type_id: suite, from: 30, to: 330 },
      { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'] ?? '', from: 30, to: 330 },
      { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'] ?? '', from: 30, to: 330 },
      { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'] ?? '', from: 30, to: 330 },
    ]);
    const whole = await listed();
    assert.equal(whole.length, 600);
    assert.equal(
      new Set(whole.map((night: { room_type_id: string; date: string }) => JSON.stringify(night))).size,
      600,
    );
    const keys = whole.map(({ room_type_id, date }: { room_type_id: string; date: string }) => room_type_id + date);
    assert.deepEqual(keys, keys.toSorted());
    assert.deepEqual(await listed(`?from=${dayAhead(400)}`), []);
  });

  it('200: oversold nights of room types that are no longer active are in the list', async () => {
    await oversell([
      { room_type_id: suite, from: 30, to: 31 },
      { room_type_id: suite, from: 30, to: 31 },
    ]);
    await service.apply({ ...hotel.document, users: undefined, properties: hotel.document.properties?.slice(1) });
    assert.deepEqual(await listed(), [{ room_type_id: suite, date: dayAhead(30), capacity: 1, held: 2 }]);
  });

  it('200: a list shows no night of another tenant', async () => {
    const other = await openHotel(service);
    const room_type_id = other.roomTypes['Suite'] ?? '';
    await oversell(
      [
        { room_type_id, from: 30, to: 31 },
        { room_type_id, from: 30, to: 31 },
      ],
      other,
    );
    assert.deepEqual(await listed(), []);
    assert.equal((await listed('', other.staff)).length, 1);
  });
});
