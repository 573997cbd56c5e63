import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '#platform/db/database.ts';
import { ApiError } from '#platform/errors.ts';
import { momentOf } from '#platform/lib/dates.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { Orders, OrderStatus } from '#restaurant/orders/orders.ts';
import type { Reservations } from '#hotel/reservations/reservations.ts';
import { readClocks } from '#hotel/rooms/rooms.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { nextOrderStep, nextStayStep, type Step } from './schedule.ts';
import { readOrders } from './store.ts';

/** Looks are a second of life apart, yet no closer and no further than this. */
const SHORTEST_REST_MS = 100;
const LONGEST_REST_MS = 1_000;
/** Rows of one status that one look takes: it costs the same however much there is. What is left is the next look's. */
const ROWS_A_LOOK = 50;
/** The last comes first: so one look moves an order by one status, not through all of them. */
const UNFINISHED: readonly OrderStatus[] = ['out_for_delivery', 'ready', 'preparing', 'confirmed', 'pending'];

export interface SandboxOptions {
  db: Database;
  log: Logger;
  orders: Pick<Orders, 'moveAlong'>;
  reservations: Pick<Reservations, 'list' | 'changeStatus'>;
  /** Whose orders and reservations are moved along: nobody else's. Null: it is not made yet. */
  findTenant: () => Promise<Pick<Tenant, 'id'> | null>;
  /** How many times as fast as life; above 0. */
  speed: number;
}

/**
 * The demo tenant's kitchen and front desk: while it runs, orders and confirmed reservations move along as if people
 * worked there, by the functions that staff use. Nothing is planned or stored. When a thing is due follows from itself,
 * and what happens to it is decided under its row's lock, so people and any number of such loops may work side by side.
 */
export interface Sandbox {
  /** Ends after the move under way. */
  stop(): Promise<void>;
}

export function startSandbox(options: SandboxOptions): Sandbox {
  const stopping = new AbortController();
  const running = run(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** It never throws: what is due when the database goes away is due when it comes back. */
async function run(options: SandboxOptions, signal: AbortSignal): Promise<void> {
  const restMs = Math.min(Math.max(1_000 / options.speed, SHORTEST_REST_MS), LONGEST_REST_MS);
  const look = createLook(options, signal);
  let isLost = false;
  while (!signal.aborted) {
    try {
      await look();
      isLost = false;
    } catch (error) {
      if (!isLost) {
        options.log.warn({ err: error }, 'the sandbox cannot go on for now');
      }
      isLost = true;
    }
    await sleep(restMs, undefined, { signal }).catch(() => {}); // Ends early when the process stops.
  }
}

/** @returns a look at what is unfinished, which moves what is due by one status */
function createLook({ db, log, orders, reservations, findTenant, speed }: SandboxOptions, signal: AbortSignal) {
  let tenantId: number | undefined;
  const isDue = (createdAt: Date, { afterMs }: Step<unknown>) => (Date.now() - createdAt.getTime()) * speed >= afterMs;
  const kitchen = UNFINISHED.map((status) =>
    inTurns((tenant, afterId) => readOrders(db, tenant, status, afterId ?? firstIdAt(0), ROWS_A_LOOK)),
  );
  const frontDesk = inTurns((tenant, afterId) =>
    reservations.list({ tenantId: tenant, status: 'confirmed' }).readBatch(afterId, ROWS_A_LOOK),
  );

  async function moveOrders(tenant: number): Promise<void> {
    for (const nextTurn of kitchen) {
      for (const order of await nextTurn(tenant)) {
        const step = nextOrderStep(order);
        if (step !== null && isDue(order.created_at, step) && !signal.aborted) {
          await unlessOvertaken(orders.moveAlong(tenant, order.id, step.status));
        }
      }
    }
  }

  async function moveStays(tenant: number): Promise<void> {
    const stays = await frontDesk(tenant);
    const clocks = stays.length === 0 ? null : await readClocks(db, tenant);
    for (const { id, room_type_id, check_out, guest_name, created_at } of stays) {
      const clock = clocks?.get(room_type_id);
      if (clock === undefined) {
        continue;
      }
      const leavesAt = new Date(momentOf(check_out, clock.check_out_time, clock.timezone));
      const step = nextStayStep({ guest_name, created_at, leavesAt });
      if (isDue(created_at, step) && !signal.aborted) {
        await unlessOvertaken(reservations.changeStatus(tenant, id, step.status));
      }
    }
  }

  return async () => {
    if (tenantId === undefined) {
      tenantId = (await findTenant())?.id; // It may be made while we run.
      if (tenantId === undefined) {
        return;
      }
      log.info({ tenant_id: tenantId, speed }, 'the sandbox moves the demo tenant along');
    }
    await moveOrders(tenantId);
    await moveStays(tenantId);
  };
}

/** Reads a list a batch a turn, and begins again at its end: so no row waits behind others for ever. */
function inTurns<Row extends { id: string }>(
  read: (tenantId: number, afterId: string | null) => Promise<Row[]>,
): (tenantId: number) => Promise<Row[]> {
  let afterId: string | null = null;
  return async (tenantId) => {
    const rows = await read(tenantId, afterId);
    afterId = rows.length < ROWS_A_LOOK ? null : (rows.at(-1)?.id ?? null);
    return rows;
  };
}

/** Whoever moved it since it was read, a person or another loop, was first: that stands. */
async function unlessOvertaken(move: Promise<unknown>): Promise<void> {
  try {
    await move;
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
  }
}
