// Floor (baseline without the service) of POST reservations. For each booking it holds the rooms, and writes the reservation and its event.
// These are three prepared statements in one transaction, without HTTP. The floor waits for the result of each statement. It may send
// COMMIT only after it has checked that every night had a free room.
import type { Client, QueryConfig } from 'pg';
import { newId } from '#platform/lib/ids.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';
import { connectMany, insertInto, type TextRow } from './statements.ts';

export interface Booking {
  tenantId: number;
  credentialId: string;
  roomTypeId: string;
  ratePlanId: string;
  nights: string[];
  checkOut: string;
}

export interface BookJob {
  databaseUrl: string;
  connections: number;
  seconds: number;
  /** Reservation row that the service has written. Each booking of the floor inserts a copy with its own ids and dates. */
  reservation: TextRow;
  /** Event row that the service has written for a reservation. Each booking of the floor inserts a copy with its own ids. */
  event: TextRow;
  bookings: Booking[];
  /** Number of rooms that each room type has. */
  capacity: number;
}

const HOLD = {
  name: 'hold',
  text: `INSERT INTO night AS n (tenant_id, room_type_id, date, held)
         VALUES ($1, $2, $3, 1), ($1, $2, $4, 1), ($1, $2, $5, 1)
         ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
         WHERE n.held + excluded.held <= $6 RETURNING held`,
};

/** Rows that each booking copies, and the prepared statements that insert the copies. */
interface Writes {
  capacity: number;
  reservation: { row: TextRow; insert: QueryConfig };
  event: { row: TextRow; insert: QueryConfig };
}

async function book(client: Client, { reservation, event, capacity }: Writes, booking: Booking): Promise<void> {
  const { tenantId, credentialId, roomTypeId, ratePlanId, nights, checkOut } = booking;
  const id = newId();
  const stay: TextRow = {
    ...reservation.row,
    tenant_id: String(tenantId),
    id,
    natural_id: newNaturalId(),
    credential_id: credentialId,
    external_reservation_id: `floor-${id}`,
    room_type_id: roomTypeId,
    rate_plan_id: ratePlanId,
    check_in: nights[0] ?? null,
    check_out: checkOut,
  };
  const eventRow: TextRow = { ...event.row, tenant_id: String(tenantId), id: newId(), credential_id: credentialId };
  await client.query('BEGIN');
  await client.query({ ...reservation.insert, values: Object.values(stay) });
  const { rowCount } = await client.query({ ...HOLD, values: [tenantId, roomTypeId, ...nights, capacity] });
  if (rowCount !== nights.length) {
    throw new Error('A booking of the floor failed because a night had no free room.');
  }
  await client.query({ ...event.insert, values: Object.values(eventRow) });
  await client.query('COMMIT');
}

answerJobs(async (job: BookJob): Promise<Slice> => {
  const clients = await connectMany(job.databaseUrl, job.connections);
  const writes: Writes = {
    capacity: job.capacity,
    reservation: { row: job.reservation, insert: insertInto('reservation', job.reservation) },
    event: { row: job.event, insert: insertInto('event', job.event) },
  };
  let next = 0;
  const slice = await closedLoop({ lanes: job.connections, seconds: job.seconds }, async (lane) => {
    const booking = job.bookings[(next += 1) % job.bookings.length];
    const client = clients[lane];
    if (client !== undefined && booking !== undefined) {
      await book(client, writes, booking);
    }
  });
  await Promise.all(clients.map((client) => client.end()));
  return slice;
});
