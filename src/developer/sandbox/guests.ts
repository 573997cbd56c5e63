import type { Logger } from 'pino';
import type { Caller, Credentials } from '#access/credentials/credentials.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { partnerBooking, type Reservations } from '#hotel/reservations/reservations.ts';
import { listProperties } from '#hotel/rooms/rooms.ts';
import type { ReadHeldNights } from '#hotel/nights/nights.ts';
import type { Database } from '#platform/db/database.ts';
import { ApiError } from '#platform/errors.ts';
import { todayIn } from '#platform/lib/dates.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import type { ReadListedMenu } from '#restaurant/menu/menu.ts';
import type { Orders } from '#restaurant/orders/orders.ts';
import { between, type MenuDish, oneOf, wishedOrder, wishedStay } from './guest-wishes.ts';
import { countOpenOrders } from './store.ts';

/** Label of the credential with which the guests order and book. If the owner revokes it, no guest comes any more. */
const LABEL = 'Demo guests';
/** Time over which the guests of one call of `send` are spread. */
const SPREAD_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
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

export interface Traffic {
  orders: number;
  stays: number;
}

/**
 * Simulated guests of the demo tenant. They order and book with the functions that the routes of partners call, so they meet the same rules.
 * While a console watches the demo, a few come by themselves.
 */
export class Guests {
  readonly #options: GuestOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  #poll: Poll | null = null;
  #nextOrderMs = 0;
  #nextStayMs = 0;
  #creating: Promise<Caller | null> | null = null;

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
  send(tenant: Tenant, { orders, stays }: Traffic): void {
    this.#clear();
    const wishes = [
      ...Array.from({ length: orders }, () => () => this.#order(tenant)),
      ...Array.from({ length: stays }, () => () => this.#book(tenant)),
    ];
    for (const wish of wishes) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#run(wish);
      }, Math.random() * SPREAD_MS).unref();
      this.#timers.add(timer);
    }
  }

  async close(): Promise<void> {
    this.#clear();
    await this.#poll?.close();
    await Promise.all(this.#running);
  }

  #clear(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
  }

  #run(wish: () => Promise<void>): void {
    const running = wish()
      .catch((error: unknown) => this.#note(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #come(): Promise<void> {
    const tenant = await this.#options.findTenant();
    const nowMs = performance.now();
    if (tenant === null || !this.#options.isWatched(tenant.id)) {
      this.#nextOrderMs = nowMs + FIRST_AFTER_MS.order;
      this.#nextStayMs = nowMs + FIRST_AFTER_MS.stay;
      return;
    }
    if (nowMs >= this.#nextOrderMs) {
      this.#nextOrderMs = nowMs + between(...ORDER_EVERY_MS);
      if ((await countOpenOrders(this.#options.db, tenant.id, MOST_OPEN_ORDERS)) < MOST_OPEN_ORDERS) {
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
    await ignoreRefusal(this.#options.orders.place(caller, wishedOrder(dishes)));
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
      await ignoreRefusal(this.#options.reservations.book(...partnerBooking(caller, stay)));
      this.#options.noteUse(caller);
    }
  }

  /** Returns the guests' credential as a caller, and creates the credential at first. Returns null if it is revoked. */
  async #callerOf(tenant: Tenant): Promise<Caller | null> {
    this.#creating ??= this.#findCaller(tenant).finally(() => (this.#creating = null));
    return await this.#creating;
  }

  async #findCaller({ id: tenantId, currency, features }: Tenant): Promise<Caller | null> {
    const { credentials } = this.#options;
    const found = (await credentials.list(tenantId)).find(({ label }) => label === LABEL);
    const { id } = found ?? (await credentials.create({ tenantId, type: 'operator', id: null }, LABEL));
    return found?.is_active === false ? null : { tenantId, credentialId: id, currency, features };
  }

  #note(error: unknown): void {
    this.#options.log.warn({ err: error }, 'a simulated guest of the demo tenant could not order or book');
  }
}

/** The menu, the opening hours or the free rooms may have changed since the guest looked. */
async function ignoreRefusal(wish: Promise<unknown>): Promise<void> {
  try {
    await wish;
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
  }
}
