import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { notFound } from '#platform/errors.ts';
import { nightsOf } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import { newNaturalId } from '#platform/lib/natural-id.ts';
import { type PlanCalendar, type Quote, quoteCheapest, quotePlan, readCalendars } from '../rates/rates.ts';
import {
  checkRange,
  type PmsReservation,
  pmsShape,
  type ReservationRow,
  type Reservations,
} from '../reservations/reservations.ts';
import { findRoomType, type RoomTypeWithClock } from '../rooms/rooms.ts';
import type { ChannelCall } from './channel-call.ts';
import type { OtaReservation } from './schema.ts';

interface Dependencies {
  db: Database;
  reservations: Reservations;
}

/** What a call asks for, with what it refers to looked up. */
interface Wanted {
  input: OtaReservation;
  roomType: RoomTypeWithClock;
  plans: PlanCalendar[];
  /** The plan it names, if it names one. */
  plan: PlanCalendar | undefined;
}

/**
 * Creates or changes an OTA's reservation by (source, external id), never refused for want of rooms. The latest timestamp wins:
 * a call older than the last applied one, or applied already, changes nothing (decision 30).
 * @throws ApiError 404 `error` for an unknown room type or plan, 400 for a bad range
 */
export async function receiveReservation(
  { db, reservations }: Dependencies,
  call: ChannelCall,
  input: OtaReservation,
): Promise<{ reservation: PmsReservation; isNew: boolean }> {
  checkRange(input);
  const roomType = await findRoomType(db, call.tenantId, input.room_type_id);
  if (roomType === null) {
    throw notFound('room type');
  }
  const plans = await readCalendars(db, call.tenantId, roomType.id, input.check_in, input.check_out);
  const plan = plans.find(({ id }) => id === input.rate_plan_id?.toLowerCase());
  if (plan === undefined && typeof input.rate_plan_id === 'string') {
    throw notFound('rate plan');
  }
  const wanted = { input, roomType, plans, plan };
  const id = newId();
  const row = await inTransaction(db, async (tx) => await apply(tx, reservations, call, wanted, id));
  // A call that came too late is answered with what stands, which may be of another room type.
  const clock = row.room_type_id === roomType.id ? roomType : await findRoomType(db, call.tenantId, row.room_type_id);
  return { reservation: pmsShape(row, clock ?? roomType), isNew: row.id === id };
}

/** Creates where there is none, else changes; where another call creates it at the same moment, this one changes it. */
async function apply(
  tx: Tx,
  reservations: Reservations,
  call: ChannelCall,
  wanted: Wanted,
  id: string,
): Promise<ReservationRow> {
  for (;;) {
    const row = await reservations.lockBySource(tx, call.tenantId, call.source, wanted.input.external_id);
    if (row !== undefined) {
      return isOutdated(row, call) ? row : await reservations.change(tx, row, changesOf(row, call, wanted), null);
    }
    if (!wanted.roomType.is_active) {
      throw notFound('room type');
    }
    const created = await reservations.add(tx, creationOf(call, wanted, id));
    if (created !== null) {
      return created;
    }
  }
}

/** Signatures of the latest second are all kept: two calls may share it, and neither may be played again. */
function isOutdated(row: ReservationRow, call: ChannelCall): boolean {
  const latest = row.channel_timestamp ?? 0;
  return call.timestamp < latest || (call.timestamp === latest && signaturesOf(row).includes(call.signature));
}

function signaturesOf(row: ReservationRow): string[] {
  return row.channel_signatures ?? [];
}

function creationOf(call: ChannelCall, wanted: Wanted, id: string) {
  const { input } = wanted;
  const quote = quoteOf(wanted);
  return {
    tenant_id: call.tenantId,
    id,
    natural_id: newNaturalId(),
    external_source: call.source,
    external_id: input.external_id,
    rate_plan_id: quote.planId,
    guests: input.guests ?? 1,
    total_amount: input.total_amount === undefined ? quote.total : formatMoney(String(input.total_amount)),
    currency: call.currency,
    created_at: new Date(),
    channel_timestamp: call.timestamp,
    channel_signatures: [call.signature],
    ...stayOf(wanted),
  };
}

/** What the call leaves out stays: amount, number of guests, and the plan while the room type is the same. */
function changesOf(row: ReservationRow, call: ChannelCall, wanted: Wanted) {
  const { input, roomType, plan } = wanted;
  const isSameSecond = call.timestamp === row.channel_timestamp;
  const keptPlan = roomType.id === row.room_type_id ? row.rate_plan_id : null;
  return {
    rate_plan_id: plan?.id ?? keptPlan,
    guests: input.guests ?? row.guests,
    total_amount: input.total_amount === undefined ? row.total_amount : formatMoney(String(input.total_amount)),
    channel_timestamp: call.timestamp,
    channel_signatures: [...(isSameSecond ? signaturesOf(row) : []), call.signature],
    ...stayOf(wanted),
  };
}

function stayOf({ input, roomType }: Wanted) {
  return {
    status: input.status,
    room_type_id: roomType.id,
    check_in: input.check_in,
    check_out: input.check_out,
    guest_name: input.guest.full_name,
    guest_phone: input.guest.phone ?? null,
    guest_email: input.guest.email ?? null,
  };
}

/** By the plan the OTA names, else as for partners; but what is sold is sold, so restrictions are not held against it. */
function quoteOf({ input, roomType, plans, plan }: Wanted): Quote {
  const nights = nightsOf(input.check_in, input.check_out);
  const quote = plan ? quotePlan(plan, nights) : quoteCheapest(plans, nights, roomType.base_price, 'ignore');
  if (quote === null) {
    throw new Error('a stay that no restriction is held against has no price');
  }
  return quote;
}
