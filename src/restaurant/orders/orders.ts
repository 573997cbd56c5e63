import type { Caller } from '#access/credentials/credentials.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import type { KeysetList } from '#platform/db/keyset-list.ts';
import { ApiError, apiError, notFound, UnavailableError } from '#platform/errors.ts';
import { FairGate } from '#platform/lib/fair-gate.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import type { ReadListedMenu } from '../menu/menu.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';
import { priceItems } from './pricing.ts';
import type { OrderCreate, OrderResponse, StaffOrder, StatusChange } from './schema.ts';
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

/** Maximum estimated size, in bytes, of the orders that one statement reads together. A larger order is read by its own statement. */
const WHOLE_ORDERS_BYTES = 64 * 1024;
/**
 * Maximum length of an order that is inserted in a batch, in UTF-16 code units of its texts. So a statement with a batch of 64 orders has
 * at most about 1 MiB. A longer order is inserted by its own statement, because a batch would not make it faster, and the other orders of
 * the batch would wait for it.
 */
const LARGE_ORDER = 16 * 1024;
/**
 * Number of items and add-ons above which an order is large. The stored lines repeat names from the menu, so an order may take megabytes
 * even if its request is small.
 */
const LARGE_ORDER_PARTS = 50;
/**
 * Maximum number of large orders that are priced and written at the same time, because each holds its lines in memory. Other large orders
 * wait, and the tenants are served round robin.
 */
const LARGE_ORDERS_AT_ONCE = 4;
const LARGE_ORDERS_OF_A_TENANT = 2;
const LARGE_ORDER_WAIT_MS = 30_000;
/**
 * Maximum number of batches under way at the same time. With two, the database can write one batch while the other waits for its flush to
 * disk.
 */
const BATCHES_UNDER_WAY = 2;

/** Orders of restaurants. Partners place and cancel them, and staff change their status. */
export class Orders {
  readonly #db: Database;
  readonly #readListedMenu: ReadListedMenu;
  readonly #transactionWithEvents: TransactionWithEvents;
  /** Inserts an order. Returns false if the credential has an order with this external id already. */
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
    const insert = (orders: store.NewOrder[]) => withRetries(() => store.insertOrders(db, orders));
    const insertTogether = batching(db, {
      many: insert,
      maxUnderWay: BATCHES_UNDER_WAY,
      tenantIdOf: ({ tenant_id }) => tenant_id,
    });
    this.#insertOrder = async (order) =>
      lengthOf(order) > LARGE_ORDER ? (await insert([order]))[0] === true : await insertTogether(order);
    this.#findSummary = batching(db, {
      many: (keys: store.ExternalKey[]) => store.findByExternalIds(db, keys),
      maxUnderWay: BATCHES_UNDER_WAY,
      tenantIdOf: ({ tenantId }) => tenantId,
    });
  }

  /**
   * Places an order at most once for each external id (decision 22). It prices the items and inserts the row without looking for a stored
   * order first. If the order is refused or its external id is taken, it looks for a stored order with this external id, and returns that
   * order if it exists.
   * @returns the order. `isReplayed` is true if an earlier call placed it.
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
    // If the stored order has the id of this call, an earlier try of this call inserted it, but the database response was lost. So the
    // order is new and not a replay.
    return { order: partnerShape(stored), isReplayed: stored.id !== id };
  }

  /** Prices and inserts an order. Returns null on success, else an error that says why the order was not inserted. */
  async #insert(caller: Caller, input: OrderCreate, id: string): Promise<Error | null> {
    const createdAt = new Date();
    try {
      const priced = await priceItems(await this.#readListedMenu(caller), input.items);
      const row = orderRow(caller, input, { id, createdAt, ...priced });
      return (await this.#insertOrder(row))
        ? null
        : new Error('The external_order_id is taken, but its order was not found.');
    } catch (error) {
      if (error instanceof ApiError) {
        return error;
      }
      throw error;
    }
  }

  /**
   * Finds an order of the caller by its external id.
   * @throws ApiError 404 `order_not_found`, also for an order of another credential
   */
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

  /**
   * Cancels an order of the caller.
   * @throws ApiError 404 `order_not_found`, 409 `invalid_status_transition`
   */
  async cancel(caller: Caller, externalOrderId: string): Promise<OrderResponse> {
    const { id } = await this.#summaryOf(caller, externalOrderId);
    return partnerShape(await this.#setStatus(caller.tenantId, id, { status: 'cancelled' }));
  }

  /**
   * Changes the status of an order. Does not read the lines of the order, because they may be several megabytes long.
   * @throws ApiError 404 (`error`) if the id is unknown, 409 (`invalid_status_transition`) if the order cannot change to this status
   */
  async moveAlong(tenantId: number, orderId: string, status: OrderStatus): Promise<void> {
    await this.#setStatus(tenantId, orderId, { status });
  }

  /**
   * Changes the status of an order, and reads the whole order. If the last change of the status had the same `request_id`, the method
   * changes nothing (decision 36).
   * @returns the order in its present status, as JSON
   * @throws ApiError as `moveAlong` does
   */
  async changeStatus(tenantId: number, orderId: string, change: StatusChange): Promise<string> {
    const { status } = await this.#setStatus(tenantId, orderId, change);
    return await this.#readText(tenantId, { id: orderId, status });
  }

  /**
   * Changes the status of an order and writes the event in one transaction. Locks the row first, and throws an error if `mayFollow` does
   * not allow the new status. If the row has the request id of the call already, the call is a repeat, so the method returns the order as
   * it is.
   */
  async #setStatus(
    tenantId: number,
    orderId: string,
    { status, request_id }: StatusChange,
  ): Promise<Omit<store.OrderSummary, 'status'> & { status: OrderStatus }> {
    const occurredAt = new Date();
    const requestId = request_id?.toLowerCase() ?? null;
    return await this.#transactionWithEvents(async (tx, record) => {
      const row = isUuid(orderId) ? await store.lockOrder(tx, tenantId, orderId) : undefined;
      if (row === undefined) {
        throw notFound('order');
      }
      const stored = row.status as OrderStatus;
      if (requestId !== null && requestId === row.status_request_id) {
        return { ...row, status: stored };
      }
      if (!mayFollow(stored, status, row.order_type as OrderType)) {
        throw apiError('invalid_status_transition', `The order is ${stored}: it cannot become ${status}.`);
      }
      await store.updateStatus(tx, tenantId, orderId, { status, status_request_id: requestId });
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
   * Reads an order for staff.
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

  /** Returns the list of all orders of the credential, newest first. */
  listOfCaller({ tenantId, credentialId }: Caller): KeysetList<store.OrderSummary> {
    return store.listOfCredential(this.#db, tenantId, credentialId);
  }

  /** Returns the list of the tenant's orders, newest first. If a status is given, the list has only the orders with this status. */
  listOfTenant(tenantId: number, status: OrderStatus | undefined): KeysetList<store.ListedOrder> {
    return store.listOfTenant(this.#db, tenantId, status);
  }

  /** Yields the listed orders as JSON with commas between them. It reads them in groups of limited size, so that memory stays bounded. */
  async *textsOf(tenantId: number, listed: store.ListedOrder[]): AsyncGenerator<string> {
    for (const group of groupBySize(listed)) {
      yield await this.#groupText(tenantId, group);
    }
  }

  async #groupText(tenantId: number, group: store.ListedOrder[]): Promise<string> {
    const statuses = new Map(group.map(({ id, status }) => [id, status]));
    const rows = await withRetries(() => store.readWhole(this.#db, tenantId, [...statuses.keys()]));
    // Each order shows the status that it had when the list was read, even if its status has changed since then.
    return rows.map((row) => staffText({ ...row, status: statuses.get(row.id) ?? row.status })).join(',');
  }
}

/**
 * Splits listed orders into groups, and keeps their sequence. The estimated sizes in a group have a sum of at most `WHOLE_ORDERS_BYTES`. A
 * larger order is a group of its own.
 */
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

/** Returns the number of items and add-ons of an order. */
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

/** Returns the total length, in UTF-16 code units, of the fields of an order that may be long. */
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

/** Returns an order as the JSON of a `StaffOrder`. The stored JSON of its lines is copied without parsing it. */
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
