// The floor of POST reservations: the same three writes in one transaction, prepared, without HTTP. They are not pipelined: whether
// every night was free has to be known before COMMIT.
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
  /** A reservation and its event as the service wrote them. */
  reservation: TextRow;
  event: TextRow;
  bookings: Booking[];
  /** Of every room type. */
  capacity: number;
}

const HOLD = {
  name: 'hold',
  text: `INSERT INTO night AS n (tenant_id, room_type_id, date, held)
         VALUES ($1, $2, $3, 1), ($1, $2, $4, 1), ($1, $2, $5, 1)
         ON CONFLICT (tenant_id, room_type_id, date) DO UPDATE SET held = n.held + excluded.held
         WHERE n.held + excluded.held <= $6 RETURNING held`,
};

/** What is written, and how. */
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
  const told: TextRow = { ...event.row, tenant_id: String(tenantId), id: newId(), credential_id: credentialId };
  await client.query('BEGIN');
  await client.query({ ...reservation.insert, values: Object.values(stay) });
  const { rowCount } = await client.query({ ...HOLD, values: [tenantId, roomTypeId, ...nights, capacity] });
  if (rowCount !== nights.length) {
    throw new Error('a night was full');
  }
  await client.query({ ...event.insert, values: Object.values(told) });
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
