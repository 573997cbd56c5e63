import type { Caller } from '#access/credentials/credentials.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { retrying } from '#platform/db/failures.ts';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import { ApiError, apiError, notFound, UnavailableError } from '#platform/errors.ts';
import { FairGate } from '#platform/lib/fair-gate.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import type { ReadListedMenu } from '../menu/menu.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';
import { priceItems } from './pricing.ts';
import type { OrderCreate, OrderResponse, StaffOrder } from './schema.ts';
import * as store from './store.ts';

export { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';

interface Dependencies {
  db: Database;
  readListedMenu: ReadListedMenu;
  transactionWithEvents: TransactionWithEvents;
}

export interface PlacedOrder {
  order: OrderResponse;
  isReplayed: boolean;
}

/** Whole orders that are read at once, in bytes as far as their sizes tell; a larger one is read alone. */
const WHOLE_ORDERS_BYTES = 64 * 1024;
/**
 * An order whose texts are longer, in UTF-16 code units, goes alone: company gains it nothing, and would wait for it. So a statement
 * of 64 orders is not longer than 1 MiB or so.
 */
const LARGE_ORDER = 16 * 1024;
/** An order of more items and add-ons may come to megabytes with the names from the menu, however small its body is. */
const LARGE_ORDER_PARTS = 50;
/** Such orders are priced and written a few at a time, tenants in turns: each holds its lines until it is stored. */
const LARGE_ORDERS_AT_ONCE = 4;
const LARGE_ORDERS_OF_A_TENANT = 2;
const LARGE_ORDER_WAIT_MS = 30_000;
/** While one batch waits for its flush to disk, another is written. */
const BATCHES_UNDER_WAY = 2;

/** A restaurant's orders: placed by partners, moved along by staff. */
export class Orders {
  readonly #db: Database;
  readonly #readListedMenu: ReadListedMenu;
  readonly #transactionWithEvents: TransactionWithEvents;
  /** Whether the order was inserted: false where its external id is taken. */
  readonly #insertOrder: (order: store.NewOrder) => Promise<boolean>;
  readonly #findSummary: (key: store.ExternalKey) => Promise<store.OrderSummary | undefined>;
  readonly #largeOrders = new FairGate({
    limit: LARGE_ORDERS_AT_ONCE,
    limitOf: () => LARGE_ORDERS_OF_A_TENANT,
    maxWaitMs: LARGE_ORDER_WAIT_MS,
    waitedTooLong: () => new UnavailableError('Too many large orders wait to be placed.'),
  });

  constructor({ db, readListedMenu, transactionWithEvents }: Dependencies) {
    this.#db = db;
    this.#readListedMenu = readListedMenu;
    this.#transactionWithEvents = transactionWithEvents;
    const insert = (orders: store.NewOrder[]) => retrying(() => store.insertOrders(db, orders));
    const insertTogether = batching(db, { many: insert, maxUnderWay: BATCHES_UNDER_WAY });
    this.#insertOrder = async (order) =>
      lengthOf(order) > LARGE_ORDER ? (await insert([order]))[0] === true : await insertTogether(order);
    this.#findSummary = batching(db, {
      many: (keys: store.ExternalKey[]) => store.findByExternalIds(db, keys),
      maxUnderWay: BATCHES_UNDER_WAY,
    });
  }

  /**
   * Places an order once per external id (decision 22). Items are priced and the row inserted without a look first; only where
   * either fails is a stored order searched for, and found, it is the answer.
   * @returns the order, and whether an earlier call had placed it
   * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, `invalid_request`
   */
  async place(caller: Caller, input: OrderCreate): Promise<PlacedOrder> {
    const id = newId();
    const insert = () => this.#insert(caller, input, id);
    const isLarge = countParts(input) > LARGE_ORDER_PARTS;
    const refusal = await (isLarge ? this.#largeOrders.run(String(caller.tenantId), insert) : insert());
    if (refusal === null) {
      return {
        order: partnerShape({ id, external_order_id: input.external_order_id, status: 'pending' }),
        isReplayed: false,
      };
    }
    const stored = await this.#findSummary(externalKey(caller, input.external_order_id));
    if (stored === undefined) {
      throw refusal;
    }
    // Under our own id it is this call's order, inserted by a try whose answer was lost.
    return { order: partnerShape(stored), isReplayed: stored.id !== id };
  }

  /** @returns null where the order was inserted, else why it was not */
  async #insert(caller: Caller, input: OrderCreate, id: string): Promise<Error | null> {
    const createdAt = new Date();
    try {
      const priced = await priceItems(await this.#readListedMenu(caller), input.items);
      const row = orderRow(caller, input, { id, createdAt, ...priced });
      return (await this.#insertOrder(row)) ? null : new Error('the stored order is gone');
    } catch (error) {
      if (error instanceof ApiError) {
        return error;
      }
      throw error;
    }
  }

  /** @throws ApiError 404 `order_not_found` for an order of another credential too */
  async find(caller: Caller, externalOrderId: string): Promise<OrderResponse> {
    return partnerShape(await this.#summaryOf(caller, externalOrderId));
  }

  async #summaryOf(caller: Caller, externalOrderId: string): Promise<store.OrderSummary> {
    const row = await this.#findSummary(externalKey(caller, externalOrderId));
    if (row === undefined) {
      throw apiError('order_not_found', 'This credential has placed no order with this external_order_id.');
    }
    return row;
  }

  /** @throws ApiError 404 `order_not_found`, 409 `invalid_status_transition` */
  async cancel(caller: Caller, externalOrderId: string): Promise<OrderResponse> {
    const { id } = await this.#summaryOf(caller, externalOrderId);
    return partnerShape(await this.#moveTo(caller.tenantId, id, 'cancelled'));
  }

  /**
   * Moves an order along. Its lines, which may be megabytes, are not read.
   * @throws ApiError 404 `error` for an unknown id, 409 `invalid_status_transition`
   */
  async moveAlong(tenantId: number, orderId: string, status: OrderStatus): Promise<void> {
    await this.#moveTo(tenantId, orderId, status);
  }

  /**
   * Moves an order along and reads it.
   * @returns it in its new status, as JSON
   */
  async changeStatus(tenantId: number, orderId: string, status: OrderStatus): Promise<string> {
    await this.moveAlong(tenantId, orderId, status);
    return await this.#readText(tenantId, { id: orderId, status });
  }

  /** The one way an order's status changes: the row is locked, the rule is asked, the event is written with the change. */
  async #moveTo(tenantId: number, orderId: string, status: OrderStatus): Promise<store.OrderSummary> {
    const occurredAt = new Date();
    return await this.#transactionWithEvents(async (tx, record) => {
      const row = isUuid(orderId) ? await store.lockOrder(tx, tenantId, orderId) : undefined;
      if (row === undefined) {
        throw notFound('order');
      }
      if (!mayFollow(row.status as OrderStatus, status, row.order_type as OrderType)) {
        throw apiError('invalid_status_transition', `The order is ${row.status}: it cannot become ${status}.`);
      }
      await store.updateStatus(tx, tenantId, orderId, status);
      await record({
        tenantId,
        credentialId: row.credential_id,
        type: 'order.status_changed',
        occurredAt,
        data: { order_id: row.id, external_order_id: row.external_order_id, status },
      });
      return { ...row, status };
    });
  }

  /**
   * @returns the order as JSON
   * @throws ApiError 404 `error` for an unknown id
   */
  async get(tenantId: number, orderId: string): Promise<string> {
    return await this.#readText(tenantId, { id: orderId });
  }

  async #readText(tenantId: number, { id, ...status }: { id: string; status?: OrderStatus }): Promise<string> {
    const [row] = isUuid(id) ? await store.readWhole(this.#db, tenantId, [id]) : [];
    if (row === undefined) {
      throw notFound('order');
    }
    return staffText({ ...row, ...status });
  }

  /** Every order the credential has placed, newest first. */
  listOfCaller({ tenantId, credentialId }: Caller): KeysetList<store.OrderSummary> {
    return store.listOfCredential(this.#db, tenantId, credentialId);
  }

  /** Every order of the tenant, of one status where it is given, newest first. */
  listOfTenant(tenantId: number, status: OrderStatus | undefined): KeysetList<store.ListedOrder> {
    return store.listOfTenant(this.#db, tenantId, status);
  }

  /** Listed orders whole, as JSON with commas between, no more of them at once than there is room for. */
  async *textsOf(tenantId: number, listed: store.ListedOrder[]): AsyncGenerator<string> {
    for (const group of groupBySize(listed)) {
      yield await this.#groupText(tenantId, group);
    }
  }

  async #groupText(tenantId: number, group: store.ListedOrder[]): Promise<string> {
    const statuses = new Map(group.map(({ id, status }) => [id, status]));
    const rows = await retrying(() => store.readWhole(this.#db, tenantId, [...statuses.keys()]));
    // Each in the status it was listed by, though it may have moved on since.
    return rows.map((row) => staffText({ ...row, status: statuses.get(row.id) ?? row.status })).join(',');
  }
}

function groupBySize(listed: store.ListedOrder[]): store.ListedOrder[][] {
  const groups: store.ListedOrder[][] = [];
  let room = 0;
  for (const order of listed) {
    room -= order.size;
    if (room < 0) {
      groups.push([]);
      room = WHOLE_ORDERS_BYTES - order.size;
    }
    groups.at(-1)?.push(order);
  }
  return groups;
}

/** Items and add-ons together. */
function countParts({ items }: OrderCreate): number {
  return items.reduce((sum, { addons }) => sum + 1 + (addons?.length ?? 0), 0);
}

function externalKey({ tenantId, credentialId }: Caller, externalOrderId: string): store.ExternalKey {
  return { tenantId, credentialId, externalOrderId };
}

function orderRow(
  { tenantId, credentialId, currency }: Caller,
  input: OrderCreate,
  made: { id: string; createdAt: Date; lines: string; total: string },
): store.NewOrder {
  return {
    tenant_id: tenantId,
    id: made.id,
    credential_id: credentialId,
    external_order_id: input.external_order_id,
    status: 'pending',
    order_type: input.order_type ?? 'delivery',
    customer_name: input.customer?.name ?? null,
    customer_phone: input.customer?.phone ?? null,
    delivery_address: input.delivery_address ?? null,
    notes: input.notes ?? null,
    lines: made.lines,
    total: made.total,
    currency,
    created_at: made.createdAt,
  };
}

/** Of what has no small bound of its own. */
function lengthOf({ lines, notes, delivery_address }: store.NewOrder): number {
  return lines.length + (notes?.length ?? 0) + (delivery_address?.length ?? 0);
}

export function partnerShape(row: store.OrderSummary): OrderResponse {
  return {
    success: true,
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
  };
}

/** An order as staff see it (`StaffOrder`), as JSON: its lines go into it as the text they are. */
function staffText(row: store.OrderRow): string {
  const beforeLines: Omit<StaffOrder, 'lines' | 'total' | 'currency' | 'created_at'> = {
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
    order_type: row.order_type as OrderType,
    customer: { name: row.customer_name, phone: row.customer_phone },
    delivery_address: row.delivery_address,
    notes: row.notes,
  };
  const afterLines: Pick<StaffOrder, 'total' | 'currency' | 'created_at'> = {
    total: row.total,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
  };
  return `${JSON.stringify(beforeLines).slice(0, -1)},"lines":${row.lines},${JSON.stringify(afterLines).slice(1)}`;
}
