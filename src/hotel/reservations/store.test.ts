import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { openSmallHotel } from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';
import { changeHeld } from '../nights/store.ts';
import { insertReservations, type NewReservation } from './store.ts';

const service = await useService();
const room = { max_occupancy: 2, rate_plans: [{ name: 'Flexible', base_price: '100.00' }] };
const hotel = await openSmallHotel(service, [
  { ...room, name: 'Double', physical_capacity: 1 },
  { ...room, name: 'Suite', physical_capacity: 2 },
]);

it('insertReservations stores each given column of a reservation of a partner and of one of an OTA, and null in the other columns', async () => {
  const { db } = service.database;
  const stay = {
    tenant_id: hotel.tenantId,
    status: 'confirmed',
    room_type_id: hotel.roomTypes['Double'] ?? '',
    check_in: '2031-03-01',
    check_out: '2031-03-03',
    guests: 2,
    guest_name: '"Ann" \\ {é🍕}',
    total_amount: '200.10',
    currency: 'EUR',
    created_at: new Date('2031-01-01T00:00:00.123Z'),
  };
  const partners: NewReservation = {
    ...stay,
    id: newId(),
    natural_id: 'N1',
    credential_id: hotel.credential.id,
    external_reservation_id: 'their id',
    rate_plan_id: hotel.plans['Double/Flexible'] ?? '',
    guest_phone: '+43 1',
    guest_email: 'ann@example.com',
    nightly_prices: ['100.05', '100.05'],
  };
  const otas: NewReservation = {
    ...stay,
    id: newId(),
    natural_id: 'N2',
    external_source: 'ota',
    external_id: 'ota id',
    channel_timestamp: 1e12,
    channel_signatures: ['a,b', '"'],
  };
  const inserted = await inTransaction(db, (tx) => insertReservations(tx, [partners, otas]));
  assert.deepEqual(inserted, new Set([partners.id, otas.id]));
  const stored = await db
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', hotel.tenantId)
    .orderBy('natural_id')
    .execute();
  const name = { guest_search_name: '"ann" \\ {e🍕}' };
  const forms = [{ ...name, guest_digits: '431', guest_search_email: 'ann@example.com' }, name];
  for (const [index, given] of [partners, otas].entries()) {
    const row = Object.entries(stored[index] ?? {}).filter(([, value]) => value !== null);
    assert.deepEqual(Object.fromEntries(row), { ...given, ...forms[index], changed_at: given.created_at });
  }
});

it('changeHeld holds the rooms of each night up to the capacity of its own room type', async () => {
  const nights = ['Double', 'Suite'].map((name, index) => ({
    tenant_id: hotel.tenantId,
    room_type_id: hotel.roomTypes[name] ?? '',
    date: '2031-03-01',
    held: 1,
    capacity: index + 1,
  }));
  const hold = () => inTransaction(service.database.db, (tx) => changeHeld(tx, nights));
  assert.deepEqual(
    (await hold()).map(({ held }) => held),
    [1, 1],
  );
  const [second, ...others] = await hold();
  assert.deepEqual([second?.room_type_id, second?.held, others], [hotel.roomTypes['Suite'], 2, []]);
  assert.deepEqual(await hold(), []);
});
