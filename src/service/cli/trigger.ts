import { randomUUID } from 'node:crypto';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Credential } from '#access/credentials/schema.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { partnerBooking, partnerShape } from '#hotel/reservations/reservations.ts';
import type { ReservationResponse } from '#hotel/reservations/schema.ts';
import { listRoomTypes } from '#hotel/rooms/rooms.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { readPartnerApiKey } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import { OperatorError, ApiError } from '#platform/errors.ts';
import type { EventType, FeedEntry } from '#webhooks/events/events.ts';
import { endOfFeed, readFeed } from '#webhooks/events/feed.ts';
import { type Business, createBusiness } from '../business.ts';
import { findDemoTenant } from './demo.ts';
import { type Context, withRuntime } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

/** A demo credential gets fewer than 200 other events while the command runs. */
const MAX_EVENTS = 200;

export async function trigger(
  context: Context,
  event: EventType,
  options: OutputOptions & { apiKey?: string },
): Promise<void> {
  await withRuntime(context, async ({ db, keyring }) => {
    // The business functions store new events but do not send them, because a running service finds and sends the events.
    const parts = { db, ...createBusiness({ db, keyring, caches: NO_CACHES, wake: null }) };
    const tenant = await requireDemoTenant(db);
    const credential = await chooseCredential(parts, tenant, readPartnerApiKey(options.apiKey, context.environment));
    const { id: tenantId, features, currency } = tenant;
    const entry = await makeEvent(parts, event, { tenantId, credentialId: credential.id, features, currency });
    context.terminal.printResult(options, entry, describe(entry, credential));
  });
}

/** This command never makes an event for another tenant, because other tenants have a real kitchen and front desk. */
async function requireDemoTenant(db: Database): Promise<Tenant> {
  const tenant = await findDemoTenant(db);
  if (tenant === null) {
    throw new OperatorError(
      'The database has no demo tenant, and this command makes events only for the demo tenant. "roomservice demo" creates it.',
    );
  }
  return tenant;
}

async function chooseCredential(
  { credentials }: Pick<Business, 'credentials'>,
  tenant: Tenant,
  apiKey: string | null,
): Promise<Credential> {
  const candidates = apiKey === null ? await credentials.list(tenant.id) : [await credentials.find(tenant.id, apiKey)];
  const chosen = candidates.find((credential) => credential?.is_active);
  if (chosen === undefined) {
    const what = apiKey === null ? 'credential' : `credential with the API key ${apiKey}`;
    const hint = apiKey === null ? '' : ' Give the full API key, because lists show only a part of each key.';
    throw new OperatorError(
      `The demo tenant has no active ${what}.${hint} "roomservice demo" issues a new credential.`,
    );
  }
  return chosen;
}

async function makeEvent(parts: TriggerParts, event: EventType, caller: Caller): Promise<FeedEntry> {
  const before = await endOfFeed(parts.db, caller);
  const id = await CAUSES[event](parts, caller);
  const { results } = await readFeed(parts.db, caller, before, MAX_EVENTS);
  const entry = results.find((each) => each.event === event && Object.values(each.data).includes(id));
  if (entry === undefined) {
    throw new Error(
      `The command made the event ${event} of ${id}, but did not find it among the next ${MAX_EVENTS} events of the credential ` +
        `${caller.credentialId}. Read the feed of this credential with GET /v1/third-party/events/.`,
    );
  }
  return entry;
}

function describe(entry: FeedEntry, credential: Credential): string {
  const { status, ...ids } = entry.data;
  const named = Object.entries({ event_id: entry.event_id, ...ids }).map(([name, value]) => `  ${name}  ${value}`);
  const sent =
    entry.delivery === null
      ? 'It is not sent, because no webhook is registered.'
      : `It is sent to ${credential.webhook_url}.`;
  return [
    `${entry.event}: ${status}`,
    ...named,
    `The event belongs to the credential ${credential.api_key}. ${sent}`,
    'Read it with "roomservice listen" and that credential, or with GET /v1/third-party/events/.',
  ].join('\n');
}

const HORIZON_DAYS = 180;
const DAY_MS = 86_400_000;

interface TriggerParts extends Pick<Business, 'orders' | 'reservations' | 'readListedMenu'> {
  db: Database;
}

/** Functions that cause an event, and return the id of its order or reservation. */
const CAUSES: Record<EventType, (parts: TriggerParts, caller: Caller) => Promise<string>> = {
  async 'order.status_changed'(parts, caller) {
    const id = await placeOrder(parts, caller);
    await parts.orders.moveAlong(caller.tenantId, id, 'confirmed', { type: 'operator', id: null });
    return id;
  },
  async 'reservation.created'(parts, caller) {
    return (await bookStay(parts, caller)).reservation_id;
  },
  async 'reservation.modified'(parts, caller) {
    const { reservation_id: id } = await bookStay(parts, caller);
    const operator = { type: 'operator', id: null } as const;
    await parts.reservations.changeStatus(caller.tenantId, id, { status: 'completed' }, operator);
    return id;
  },
  async 'reservation.cancelled'(parts, caller) {
    const { reservation_id: id, external_reservation_id: externalId } = await bookStay(parts, caller);
    await parts.reservations.cancel(caller, externalId);
    return id;
  },
};

async function placeOrder({ orders, readListedMenu }: TriggerParts, caller: Caller): Promise<string> {
  const { dishes } = await readListedMenu(caller);
  const [dish] = JSON.parse(`[${dishes.slice(0, 1).toString()}]`) as { sku: string }[];
  if (dish === undefined) {
    throw new OperatorError(
      'The demo tenant has no dish to order. "roomservice tenant apply examples/demo/tenant.json" restores its menu.',
    );
  }
  const items = [{ item_id: dish.sku, quantity: 1 }];
  const { order } = await orders.place(caller, { external_order_id: newExternalId(), items });
  return order.order_id;
}

async function bookStay({ db, reservations }: TriggerParts, caller: Caller): Promise<ReservationResponse> {
  for (const { room_type_id } of await listRoomTypes(db, caller)) {
    const range = { check_in: daysAhead(2), check_out: daysAhead(HORIZON_DAYS) };
    const { days } = await reservations.availability(caller.tenantId, room_type_id, range);
    const first = days.findIndex(({ sellable }, night) => sellable > 0 && (days[night + 1]?.sellable ?? 0) > 0);
    const [checkIn, checkOut] = [days[first]?.date, days[first + 2]?.date];
    if (checkIn !== undefined && checkOut !== undefined) {
      const stay = { room_type_id, check_in: checkIn, check_out: checkOut };
      const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
      const input = { external_reservation_id: newExternalId(), ...stay, guest };
      const booked = await reservations.book(...partnerBooking(caller, input)).catch(nullIfNotAvailable);
      if (booked !== null) {
        return partnerShape(booked.row);
      }
    }
  }
  throw new OperatorError(
    `The demo tenant has no free room in the next ${HORIZON_DAYS} days. Cancel a reservation first.`,
  );
}

function newExternalId(): string {
  return `trigger-${randomUUID().slice(0, 8)}`;
}

function daysAhead(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns null if no rate plan sells the room, or if it has been booked in the meantime. Rethrows any other error. */
function nullIfNotAvailable(error: unknown): null {
  if (error instanceof ApiError && error.code === 'room_not_available') {
    return null;
  }
  throw error;
}
