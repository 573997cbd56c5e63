import type { Logger } from 'pino';
import type { Caller, Credentials } from '#access/credentials/credentials.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { partnerBooking, type Reservations } from '#hotel/reservations/reservations.ts';
import { listProperties } from '#hotel/rooms/rooms.ts';
import type { ReadHeldNights } from '#hotel/nights/nights.ts';
import type { Database } from '#platform/db/database.ts';
import { asRefusal } from '#platform/errors.ts';
import { todayIn } from '#platform/lib/dates.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import type { ReadListedMenu } from '#restaurant/menu/menu.ts';
import type { Orders } from '#restaurant/orders/orders.ts';
import { between, type MenuDish, oneOf, wishedOrder, wishedStay } from './guest-wishes.ts';
import { FIRST_ID, readOrders } from './store.ts';

/** Label of the credential with which the guests order and book. If the owner revokes it, no guest comes any more. */
const LABEL = 'Demo guests';
/** Time over which the guests of one call of `send` are spread. */
export const SPREAD_MS = 60_000;
const LOOK_EVERY_MS = 1_000;
const ORDER_EVERY_MS = [20_000, 40_000] as const;
const STAY_EVERY_MS = [150_000, 270_000] as const;
/** Time from the first look of a console until the first guests come. */
const FIRST_AFTER_MS = { order: 10_000, stay: 30_000 };
/** With this number of unfinished orders, guests who come by themselves do not order, because the kitchen must finish some first. */
const MOST_OPEN_ORDERS = 30;
/** Share of the rooms of a type that the guests fill at most on any night, so that the hotel is never full because of them. */
const MOST_HELD = 0.8;

export interface GuestOptions {
  db: Database;
  log: Logger;
  credentials: Pick<Credentials, 'list' | 'create'>;
  orders: Pick<Orders, 'place'>;
  reservations: Pick<Reservations, 'book'>;
  readListedMenu: ReadListedMenu;
  readHeldNights: ReadHeldNights;
  /** Records a call of the credential, because the guests do not call over HTTP. */
  noteUse: (caller: Caller) => void;
  /** Finds the demo tenant. Returns null while it does not exist. */
  findTenant: () => Promise<Tenant | null>;
  /** Returns true if a console watches the live changes of the tenant on this process. */
  isWatched: (tenantId: number) => boolean;
}

/**
 * Simulated guests of the demo tenant. They order and book with the functions that the routes of partners call, so they meet the same rules.
 * While a console watches the demo, a few come by themselves. A guest may be refused, for example because the menu has changed meanwhile.
 */
export class Guests {
  readonly #options: GuestOptions;
  #poll: Poll | null = null;
  /** Guests of the last call of `send` who have not come yet. */
  #sent: { atMs: number; come: () => Promise<void> }[] = [];
  #nextOrderMs = 0;
  #nextStayMs = 0;

  constructor(options: GuestOptions) {
    this.#options = options;
  }

  start(): void {
    this.#poll = poll(
      LOOK_EVERY_MS,
      () => this.#come(),
      (error) => this.#note(error),
    );
  }

  /** Sends guests within the next minute, in the place of those of an earlier call who have not come yet. */
  send(tenant: Tenant, orders: number, stays: number): void {
    const nowMs = performance.now();
    this.#sent = [
      ...Array.from({ length: orders }, () => () => this.#order(tenant)),
      ...Array.from({ length: stays }, () => () => this.#book(tenant)),
    ].map((come) => ({ come, atMs: nowMs + Math.random() * (SPREAD_MS - LOOK_EVERY_MS) }));
  }

  async close(): Promise<void> {
    this.#sent = [];
    await this.#poll?.close();
  }

  /** Lets the guests come whose time is over. One comes after the other, so that only the first creates their credential. */
  async #come(): Promise<void> {
    const nowMs = performance.now();
    const { due = [], later = [] } = Object.groupBy(this.#sent, ({ atMs }) => (atMs <= nowMs ? 'due' : 'later'));
    this.#sent = later;
    for (const { come } of due) {
      await come().catch((error: unknown) => this.#note(error));
    }
    const tenant = await this.#options.findTenant();
    if (tenant === null || !this.#options.isWatched(tenant.id)) {
      this.#nextOrderMs = nowMs + FIRST_AFTER_MS.order;
      this.#nextStayMs = nowMs + FIRST_AFTER_MS.stay;
      return;
    }
    if (nowMs >= this.#nextOrderMs) {
      this.#nextOrderMs = nowMs + between(...ORDER_EVERY_MS);
      const open = await readOrders(this.#options.db, tenant.id, FIRST_ID, MOST_OPEN_ORDERS);
      if (open.length < MOST_OPEN_ORDERS) {
        await this.#order(tenant);
      }
    }
    if (nowMs >= this.#nextStayMs) {
      this.#nextStayMs = nowMs + between(...STAY_EVERY_MS);
      await this.#book(tenant);
    }
  }

  async #order(tenant: Tenant): Promise<void> {
    const caller = await this.#callerOf(tenant);
    if (caller === null || !tenant.features.includes('restaurant')) {
      return;
    }
    const menu = await this.#options.readListedMenu(caller);
    const dishes = JSON.parse(menu.plain.body.toString('utf8')) as MenuDish[];
    await this.#options.orders.place(caller, wishedOrder(dishes)).catch(asRefusal);
    this.#options.noteUse(caller);
  }

  async #book(tenant: Tenant): Promise<void> {
    const caller = await this.#callerOf(tenant);
    const properties = await listProperties(this.#options.db, tenant.id);
    // Each room is as likely as the other, so that a room type with many rooms gets many guests.
    const all = properties.flatMap(({ property, roomTypes }) =>
      roomTypes.flatMap((roomType) =>
        Array.from({ length: roomType.physical_capacity }, () => ({ property, roomType })),
      ),
    );
    if (caller === null || all.length === 0) {
      return;
    }
    const { property, roomType } = oneOf(all);
    const stay = wishedStay(roomType, todayIn(property.timezone));
    const { room_type_id, check_in, check_out } = stay;
    const nights = await this.#options.readHeldNights({ tenant_id: tenant.id, room_type_id, check_in, check_out });
    if (nights.every(({ held }) => held + 1 <= roomType.physical_capacity * MOST_HELD)) {
      await this.#options.reservations.book(...partnerBooking(caller, stay)).catch(asRefusal);
      this.#options.noteUse(caller);
    }
  }

  /** Returns the guests' credential as a caller, and creates the credential at first. Returns null if it is revoked. */
  async #callerOf({ id: tenantId, currency, features }: Tenant): Promise<Caller | null> {
    const { credentials } = this.#options;
    const found = (await credentials.list(tenantId)).find(({ label }) => label === LABEL);
    const { id } = found ?? (await credentials.create({ tenantId, type: 'operator', id: null }, LABEL));
    return found?.is_active === false ? null : { tenantId, credentialId: id, currency, features };
  }

  #note(error: unknown): void {
    this.#options.log.warn({ err: error }, 'a simulated guest of the demo tenant could not order or book');
  }
}
