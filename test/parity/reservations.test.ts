import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { sql } from 'kysely';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { type Booking, createBooker } from '#hotel/reservations/booking.ts';
import * as reservations from '#hotel/reservations/store.ts';
import { createTransactionWithEvents } from '#webhooks/events/events.ts';
import { assertNightCounters } from '../support/hotel.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm, type Operation } from './forms.ts';
import { dayAt, Hotels, instantAt, oddText, optional, times } from './odd-inputs.ts';
import { isTestCluster } from '../support/test-cluster.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

const keyOf = (row: reservations.NewReservation) =>
  JSON.stringify([
    row.tenant_id,
    row.credential_id ?? row.external_source,
    row.external_reservation_id ?? row.external_id,
  ]);

/**
 * Inserts reservations. Of every four, three come from partners and one comes from an OTA. Some reservations of partners repeat the
 * external id of an earlier reservation. The operation must skip these repetitions.
 */
const insertReservations: Operation<reservations.NewReservation, string | null> = {
  name: 'insert of reservations',
  tenantIdOf: ({ tenant_id }) => tenant_id,
  writes: { table: 'reservation', key: ['id'] },
  inputs: (count) =>
    times(count, (index) => {
      const { tenantId, credential, plans } = hotels.at(index);
      const isPartners = index % 4 !== 3;
      const named = index % 7 === 6 ? index - 3 : index;
      const name = `${oddText(named)} ${named}`;
      return {
        tenant_id: tenantId,
        id: newId(),
        natural_id: `N${index}`,
        ...(isPartners
          ? { credential_id: credential.id, external_reservation_id: name }
          : {
              external_source: 'ota',
              external_id: name,
              channel_timestamp: 1e12 + index,
              channel_signatures: times(index % 3, oddText),
            }),
        status: ['confirmed', 'pending'][index % 2] as string,
        room_type_id: hotels.roomTypeAt(index),
        rate_plan_id: index % 3 === 0 ? (plans['Double/Flexible'] ?? null) : null,
        check_in: dayAt(index % 40),
        check_out: dayAt((index % 40) + 1 + (index % 9)),
        guests: 1 + (index % 4),
        guest_name: `guest ${oddText(index)}`,
        ...optional('guest_phone', index, 0),
        ...optional('guest_email', index, 1),
        total_amount: ['0', '0.10', '999999999999.99'][index % 3] as string,
        currency: ['EUR', 'JPY'][index % 2] as string,
        created_at: instantAt(index),
        nightly_prices: index % 2 === 0 ? null : times(1 + (index % 9), (night) => `${night}.50`),
      };
    }),
  async run(db, rows) {
    const inserted = await inTransaction(db, (tx) => reservations.insertReservations(tx, rows));
    return rows.map(({ id }) => (inserted.has(id) ? id : null));
  },
  async check(db, inputs, outputs) {
    const keys = inputs.map(keyOf);
    assert.deepEqual(
      outputs,
      inputs.map((input, index) => (keys.indexOf(keyOf(input)) === index ? input.id : null)),
    );
    const stored = await db.selectFrom('reservation').selectAll().orderBy('id').execute();
    assert.deepEqual(
      stored.map(({ id }) => id),
      outputs.filter((id) => id !== null).sort(),
    );
    const absent = Object.fromEntries(
      ['credential_id', 'external_reservation_id', 'external_source', 'external_id', 'guest_phone', 'guest_email']
        .concat(['channel_timestamp', 'channel_signatures', 'status_request_id', 'arrived_at'])
        .map((column) => [column, null]),
    );
    for (const row of stored) {
      const input = inputs.find(({ id }) => id === row.id);
      const set = { changed_at: input?.created_at, has_history: true };
      assert.deepEqual(row, { ...absent, ...input, ...set, total_amount: Number(input?.total_amount).toFixed(2) });
    }
  },
};

/**
 * Bookings of partners for different nights. Some bookings repeat the external id of an earlier booking of their tenant, so the operation
 * must refuse them.
 */
const bookings: Operation<Booking, string> = {
  name: 'bookings of partners',
  tenantIdOf: ({ row }) => row.tenant_id,
  writes: { table: 'reservation', key: ['id'] },
  inputs: (count) =>
    insertReservations
      .inputs(count * 2)
      .filter((row) => 'credential_id' in row)
      .slice(0, count)
      .map((row, index) => ({
        row: {
          ...row,
          status: 'confirmed',
          check_in: dayAt(10 * index),
          check_out: dayAt(10 * index + 1 + (index % 9)),
        } as Booking['row'],
        capacity: 3,
      })),
  async prepare(db) {
    await sql`DELETE FROM night`.execute(db);
    await sql`DELETE FROM event`.execute(db);
  },
  async run(db, inputs) {
    return await Promise.all(inputs.map(createBooker(db, createTransactionWithEvents(db, null))));
  },
  async check(db, inputs, outputs) {
    const booked = inputs.filter((_, index) => outputs[index] === 'booked').map(({ row }) => row);
    const keys = inputs.map(({ row }) => `${row.tenant_id} ${row.external_reservation_id}`);
    assert.deepEqual(
      outputs,
      keys.map((key, index) => (keys.indexOf(key) === index ? 'booked' : 'taken')),
    );
    const ids = await db.selectFrom('reservation').select('id').orderBy('id').execute();
    assert.deepEqual(
      ids.map(({ id }) => id),
      booked.map(({ id }) => id).sort(),
    );
    await Promise.all(hotels.all.map(({ tenantId }) => assertNightCounters(service, tenantId)));
    const { rows } = await sql<object>`
      SELECT tenant_id, credential_id, type, body::json -> 'data' AS data FROM event ORDER BY body::json -> 'data' ->> 'reservation_id'
    `.execute(db);
    const expected = booked.map(({ tenant_id, id, credential_id, external_reservation_id }) => {
      const data = { reservation_id: id, external_reservation_id, status: 'confirmed' };
      return { tenant_id, credential_id, type: 'reservation.created', data };
    });
    assert.deepEqual(
      rows,
      expected.sort((a, b) => (a.data.reservation_id < b.data.reservation_id ? -1 : 1)),
    );
  },
};

describe('statements that insert reservations, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, insertReservations);
  testEachForm(() => service, bookings);
});
