/** Simulates the kitchen and the front desk of the demo tenant, with the functions that the staff routes call. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '#platform/db/database.ts';
import { asRefusal } from '#platform/errors.ts';
import { instantOf } from '#platform/lib/dates.ts';
import type { Orders } from '#restaurant/orders/orders.ts';
import type { Reservations } from '#hotel/reservations/reservations.ts';
import { readClocks } from '#hotel/rooms/rooms.ts';
import type { ChangeActor } from '#access/actors/actors.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { nextOrderStep, nextStayStep, type Step } from './schedule.ts';
import { FIRST_ID, readOrders, readStays } from './store.ts';

/** The pause is one second of the simulation, but not shorter or longer than these limits. */
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** Largest number of unfinished orders, and of confirmed stays, that one pass reads. */
const ROWS_PER_PASS = 100;

const SANDBOX: ChangeActor = { type: 'sandbox', id: null };

export interface SandboxOptions {
  db: Database;
  log: Logger;
  orders: Pick<Orders, 'moveAlong'>;
  reservations: Pick<Reservations, 'changeStatus'>;
  /** Null while the tenant does not exist. */
  findTenant: () => Promise<Pick<Tenant, 'id'> | null>;
  /** Number of simulated seconds that pass in one real second. Greater than 0. */
  speed: number;
}

/**
 * The sandbox stores no data of its own, because it computes the next status from the order or the reservation. Each change locks its row,
 * so people and several sandboxes may work at the same time.
 */
export function startSandbox(options: SandboxOptions) {
  const stopping = new AbortController();
  const running = run(options, stopping.signal);
  return {
    /** Resolves when the change of an order or stay that is under way has ended. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

/** The sandbox continues after a failure, because a later pass can make the changes that the failed pass did not make. */
async function run(options: SandboxOptions, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(Math.max(1_000 / options.speed, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  const runPass = createPass(options, signal);
  let isFailing = false;
  const note = (error: unknown) => {
    if (!isFailing) {
      const message =
        'the sandbox could not change the orders and stays of the demo tenant; the sandbox tries again until it succeeds';
      options.log.warn({ err: error }, message);
    }
    isFailing = true;
  };
  while (!signal.aborted) {
    await runPass().then(() => (isFailing = false), note);
    await sleep(pauseMs, undefined, { signal }).catch(() => {}); // The abort signal ends the sleep early.
  }
}

/** A refusal of a change means that a person or another process has changed the row since the pass read it. */
function createPass({ db, log, orders, reservations, findTenant, speed }: SandboxOptions, signal: AbortSignal) {
  let tenantId: number | undefined;
  const isDue = (createdAt: Date, { afterMs }: Step<unknown>) => (Date.now() - createdAt.getTime()) * speed >= afterMs;
  const readNextOrders = readInTurns((tenant, afterId) => readOrders(db, tenant, afterId, ROWS_PER_PASS));
  const readNextStays = readInTurns((tenant, afterId) => readStays(db, tenant, afterId, ROWS_PER_PASS));

  async function moveOrders(tenant: number): Promise<void> {
    for (const order of await readNextOrders(tenant)) {
      const step = nextOrderStep(order);
      if (step !== null && isDue(order.created_at, step) && !signal.aborted) {
        await orders.moveAlong(tenant, order.id, step.status, SANDBOX).catch(asRefusal);
      }
    }
  }

  async function moveStays(tenant: number): Promise<void> {
    const stays = await readNextStays(tenant);
    const clocks = stays.length === 0 ? null : await readClocks(db, tenant);
    for (const { id, room_type_id, check_out, guest_name, created_at } of stays) {
      const clock = clocks?.get(room_type_id);
      if (clock === undefined) {
        continue;
      }
      const checkOutAt = new Date(instantOf(check_out, clock.check_out_time, clock.timezone));
      const step = nextStayStep({ guest_name, created_at, checkOutAt });
      if (isDue(created_at, step) && !signal.aborted) {
        await reservations.changeStatus(tenant, id, { status: step.status }, SANDBOX).catch(asRefusal);
      }
    }
  }

  return async () => {
    if (tenantId === undefined) {
      tenantId = (await findTenant())?.id; // The tenant may be created while the sandbox runs.
      if (tenantId === undefined) {
        return;
      }
      log.info({ tenant_id: tenantId, speed }, 'the sandbox changes the status of orders and stays of the demo tenant');
    }
    await moveOrders(tenantId);
    await moveStays(tenantId);
  };
}

/** Reads the next rows at each call, and begins again after the last row, so the passes together read every row of a long list. */
function readInTurns<Row extends { id: string }>(
  read: (tenantId: number, afterId: string) => Promise<Row[]>,
): (tenantId: number) => Promise<Row[]> {
  let afterId = FIRST_ID;
  return async (tenantId) => {
    const rows = await read(tenantId, afterId);
    afterId = rows.length < ROWS_PER_PASS ? FIRST_ID : (rows.at(-1)?.id ?? FIRST_ID);
    return rows;
  };
}
