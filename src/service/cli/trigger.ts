import { randomUUID } from 'node:crypto';
import type { Caller } from '#access/credentials/credentials.ts';
import { partnerBooking, partnerShape } from '#hotel/reservations/reservations.ts';
import { listRoomTypes } from '#hotel/rooms/rooms.ts';
import { readPartnerApiKey } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import { ApiError, OperatorError } from '#platform/errors.ts';
import { addDays, todayIn } from '#platform/lib/dates.ts';
import type { EventType } from '#webhooks/events/events.ts';
import { readFeed } from '#webhooks/events/feed.ts';
import { type Business, createBusiness } from '../business.ts';
import { findDemoTenant } from './demo.ts';
import { type Context, withRuntime } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

/** A demo credential gets fewer than 200 other events while the command runs. */
const MAX_EVENTS = 200;
const HORIZON_DAYS = 180;
const OPERATOR = { type: 'operator', id: null } as const;

type Parts = Business & { db: Database };

/**
 * Runs `roomservice trigger EVENT`: makes a real event for the demo tenant, and never for another one, because other tenants have a real
 * kitchen and front desk.
 */
export async function trigger(context: Context, event: EventType, options: OutputOptions & { apiKey?: string }) {
  await withRuntime(context, async ({ db, keyring }) => {
    // The business functions store new events but do not send them, because a running service finds and sends the events.
    const parts = { db, ...createBusiness({ db, keyring }) };
    const tenant = await findDemoTenant(db);
    if (tenant === null) {
      throw new OperatorError(
        'The database has no demo tenant, and this command makes events only for the demo tenant. "roomservice demo" creates it.',
      );
    }
    const { id: tenantId, features, currency } = tenant;
    const apiKey = readPartnerApiKey(options.apiKey, context.environment);
    const credential = await chooseCredential(parts, tenantId, apiKey);
    const caller = { tenantId, credentialId: credential.id, features, currency };
    const { next: after } = await readFeed(db, caller, { after: 'latest' });
    const id = await CAUSES[event](parts, caller);
    const { results } = await readFeed(db, caller, { after, limit: MAX_EVENTS });
    const entry = results.find((each) => each.event === event && Object.values(each.data).includes(id));
    if (entry === undefined) {
      throw new Error(`The event ${event} of ${id} is not among the next ${MAX_EVENTS} events of the feed.`);
    }
    const { status, ...ids } = entry.data;
    const named = Object.entries({ event_id: entry.event_id, ...ids }).map(([name, value]) => `  ${name}  ${value}`);
    const sent =
      entry.delivery === null
        ? 'It is not sent, because no webhook is registered.'
        : `It is sent to ${credential.webhook_url}.`;
    const text = [
      `${entry.event}: ${status}`,
      ...named,
      `The event belongs to the credential ${credential.api_key}. ${sent}`,
      'Read it with "roomservice listen" and that credential, or with GET /v1/third-party/events/.',
    ];
    context.terminal.printResult(options, entry, text.join('\n'));
  });
}

async function chooseCredential({ credentials }: Parts, tenantId: number, apiKey: string | null) {
  const candidates = apiKey === null ? await credentials.list(tenantId) : [await credentials.find(tenantId, apiKey)];
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

const CAUSES: Record<EventType, (parts: Parts, caller: Caller) => Promise<string>> = {
  async 'order.status_changed'(parts, caller) {
    const id = await placeOrder(parts, caller);
    await parts.orders.moveAlong(caller.tenantId, id, 'confirmed', OPERATOR);
    return id;
  },
  async 'reservation.created'(parts, caller) {
    return (await bookStay(parts, caller)).reservation_id;
  },
  async 'reservation.modified'(parts, caller) {
    const { reservation_id: id } = await bookStay(parts, caller);
    await parts.reservations.changeStatus(caller.tenantId, id, { status: 'completed' }, OPERATOR);
    return id;
  },
  async 'reservation.cancelled'(parts, caller) {
    const { reservation_id: id, external_reservation_id: externalId } = await bookStay(parts, caller);
    await parts.reservations.cancel(caller, externalId);
    return id;
  },
};

async function placeOrder({ orders, readListedMenu }: Parts, caller: Caller): Promise<string> {
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

async function bookStay({ db, reservations }: Parts, caller: Caller) {
  const today = todayIn('UTC');
  const range = { check_in: addDays(today, 2), check_out: addDays(today, HORIZON_DAYS) };
  for (const { room_type_id } of await listRoomTypes(db, caller)) {
    const { days } = await reservations.availability(caller.tenantId, room_type_id, range);
    const first = days.find(({ sellable }, night) => sellable > 0 && (days[night + 1]?.sellable ?? 0) > 0);
    if (first !== undefined) {
      const stay = { room_type_id, check_in: first.date, check_out: addDays(first.date, 2) };
      const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
      const input = { external_reservation_id: newExternalId(), ...stay, guest };
      const booked = await reservations.book(...partnerBooking(caller, input)).catch((error: unknown) => {
        // No rate plan sells the room, or it has been booked in the meantime.
        if (error instanceof ApiError && error.code === 'room_not_available') {
          return null;
        }
        throw error;
      });
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
