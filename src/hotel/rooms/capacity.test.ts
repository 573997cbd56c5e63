import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { waitForLeasesToEnd } from '#platform/changes/changes.ts';
import { assertError } from '#test/support/answers.ts';
import { book, dayAhead, openHotel, sellable, type TestHotel } from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

let hotel: TestHotel;
let double: string;
const service = await useService();
beforeEach(async () => {
  hotel = await openHotel(service);
  double = hotel.roomTypes['Double'] ?? '';
});

const change = (id: string | undefined, json: object, headers = hotel.owner): Promise<Answer> =>
  service.call('PATCH', `/v1/staff/room-types/${id}/`, { headers, json });
const left = (node = service) => sellable(node, hotel, double, dayAhead(30), dayAhead(31));

describe('PATCH /v1/staff/room-types/{id}/', () => {
  it('200: a new capacity is returned, and availability and bookings on this node use it immediately', async () => {
    assert.deepEqual(await left(), [3]);
    const { status, body } = await change(double.toUpperCase(), { physical_capacity: 1 });
    assert.deepEqual([status, body], [200, { id: double, name: 'Double', physical_capacity: 1 }]);
    assert.deepEqual(await left(), [1]);
    assert.equal((await book(service, hotel)).status, 201);
    assertError(await book(service, hotel), 409, 'room_not_available');
    await change(double, { physical_capacity: 2 });
    assert.equal((await book(service, hotel)).status, 201);
  });

  it('200: another node shows a new capacity when its lease of cached data has ended, about half a second after the change', async (t) => {
    const other = await startService({ beside: service });
    t.after(() => other.close());
    assert.deepEqual(await left(other), [3]);
    await change(double, { physical_capacity: 7 });
    await waitForLeasesToEnd();
    assert.deepEqual(await left(other), [7]);
  });

  it('200: the audit trail has the capacity before and after a change, and no entry if the capacity is the same', async () => {
    await change(double, { physical_capacity: 3 });
    await change(double, { physical_capacity: 4 });
    const body = await entriesOf(service, '/v1/staff/audit/', hotel.owner);
    const entries = body.filter(({ action }: { action: string }) => action === 'room_type.changed');
    assert.deepEqual(
      entries.map(({ subject, details }: { subject: string; details: object }) => [subject, details]),
      [[double, { before: { physical_capacity: 3 }, after: { physical_capacity: 4 } }]],
    );
  });
});
