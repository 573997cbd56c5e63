import { type ChangeActor, readActorNames } from '#access/actors/actors.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { type KeysetList, type ListOrder, NEWEST_FIRST, OLDEST_FIRST } from '#platform/db/keyset-list.ts';
import { ApiError, apiError, invalidField, notFound } from '#platform/errors.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import type { ReadListedMenu } from '../menu/menu.ts';
import type { Opening } from '../opening/opening.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { BATCHES_UNDER_WAY, orderInserter } from './insert-order.ts';
import { type ListedOrder, listOfTenant } from './list-store.ts';
import { filterOf } from './order-filter.ts';
import { historyOf } from './order-history.ts';
import { orderRow, partnerShape, staffText } from './order-shapes.ts';
import type { OrderStatus } from './order-status.ts';
import { type PricedOrder, priceItems } from './pricing.ts';
import type { OrderCreate, OrderQuoteRequest, OrderResponse } from './schema.ts';
import { type ChangeBy, type OrderState, setStatus } from './set-status.ts';
import type { StaffOrder, StaffOrderQuery } from './staff-schema.ts';
import * as store from './store.ts';

export { partnerShape } from './order-shapes.ts';
export { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';

interface Dependencies {
  db: Database;
  readListedMenu: ReadListedMenu;
  opening: Pick<Opening, 'refuseIfClosed'>;
  transactionWithEvents: TransactionWithEvents;
}

export interface PlacedOrder {
  order: OrderResponse;
  isReplayed: boolean;
}

/**
 * Number of orders that one statement reads together for a list of staff. An order has up to 128 KiB of lines and as much text as fits into
 * a body, and a list keeps a whole group in memory while its client reads slowly.
 */
const FIRST_GROUP = 4;
const LARGEST_GROUP = 32;
const GROUP_LENGTH = 64 * 1024;

/** Orders of restaurants. Partners place and cancel them, and staff change their status. */
export class Orders {
  readonly #db: Database;
  readonly #readListedMenu: ReadListedMenu;
  readonly #opening: Dependencies['opening'];
  readonly #transactionWithEvents: TransactionWithEvents;
  readonly #insertOrder: ReturnType<typeof orderInserter>;
  readonly #findSummary: (key: store.ExternalKey) => Promise<store.OrderSummary | undefined>;

  constructor({ db, readListedMenu, opening, transactionWithEvents }: Dependencies) {
    this.#db = db;
    this.#readListedMenu = readListedMenu;
    this.#opening = opening;
    this.#transactionWithEvents = transactionWithEvents;
    this.#insertOrder = orderInserter(db);
    this.#findSummary = batching(db, {
      many: (keys: store.ExternalKey[]) => store.findByExternalIds(db, keys),
      maxUnderWay: BATCHES_UNDER_WAY,
      tenantIdOf: ({ tenantId }) => tenantId,
    });
  }

  /**
   * Places an order at most once for each external id (decision 22). First prices the items and tries to insert the order. This fails if an
   * item is invalid, the restaurant is closed, or the external id is taken. After each of these failures, looks for a stored order with
   * this external id. If an earlier call has placed it, returns the stored order instead of an error.
   * @returns the order. `isReplayed` is true if an earlier call placed it.
   * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, `invalid_request`, 409 `restaurant_closed`
   */
  async place(caller: Caller, input: OrderCreate): Promise<PlacedOrder> {
    const id = newId();
    const refusal = await this.#insert(caller, input, id);
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
    // If the database response to the insert is lost, `#insertOrder` repeats the insert, and finds the external id taken by its own order.
    // The stored order then has the id that this call made, so it is new and not a replay.
    return { order: partnerShape(stored), isReplayed: stored.id !== id };
  }

  /**
   * Prices an order as `place` would, and stores nothing.
   * @returns the JSON of an `OrderQuote`
   * @throws ApiError as `place` does
   */
  async quote(caller: Caller, input: OrderQuoteRequest): Promise<string> {
    const { lines, total } = await this.#price(caller, input);
    return `{"lines":${lines},${JSON.stringify({ total, currency: caller.currency }).slice(1)}`;
  }

  /**
   * Prices the items of an order, and then refuses the order if the restaurant is closed. So an invalid item is reported even while the
   * restaurant is closed.
   */
  async #price(caller: Caller, { items }: OrderQuoteRequest): Promise<PricedOrder> {
    const priced = await priceItems(await this.#readListedMenu(caller), items);
    await this.#opening.refuseIfClosed(caller.tenantId);
    return priced;
  }

  /** Prices and inserts an order. Returns null on success, else an error that says why the order was not inserted. */
  async #insert(caller: Caller, input: OrderCreate, id: string): Promise<Error | null> {
    try {
      const row = orderRow(caller, input, { id, ...(await this.#price(caller, input)) });
      return (await this.#insertOrder(row))
        ? null
        : new Error(
            `The order ${id} of the credential ${caller.credentialId} was not inserted, because another order has its external_order_id. ` +
              'But the service cannot find that other order. This is a fault of the program.',
          );
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
    const by: ChangeActor = { type: 'partner', id: caller.credentialId };
    return partnerShape(await setStatus(this.#transactionWithEvents, caller.tenantId, id, { status: 'cancelled', by }));
  }

  /**
   * Changes the status of an order. Does not read the lines of the order, because they may be long.
   * @throws ApiError with status 404 and the general code `error` if the id is unknown. ApiError with status 409 and the code
   * `invalid_status_transition` if the order cannot change to this status.
   */
  async moveAlong(tenantId: number, orderId: string, status: OrderStatus, by: ChangeActor): Promise<void> {
    await setStatus(this.#transactionWithEvents, tenantId, orderId, { status, by });
  }

  /**
   * Changes the status of an order, and reads the whole order. If an earlier change of the order had the same `request_id`, the method
   * changes nothing (decision 36).
   * @returns the order in its present status, as JSON
   * @throws ApiError as `moveAlong` does, 400 `invalid_request` if `change` has the field `reason` but its status is not `cancelled`
   */
  async changeStatus(tenantId: number, orderId: string, change: ChangeBy): Promise<string> {
    if (change.reason !== undefined && change.status !== 'cancelled') {
      throw invalidField('reason', 'is accepted only with the status "cancelled"');
    }
    const { status, status_changed_at } = await setStatus(this.#transactionWithEvents, tenantId, orderId, change);
    return staffText({ ...(await this.#read(tenantId, orderId)), status, status_changed_at });
  }

  /**
   * Reads an order for staff, with its history.
   * @returns the order as JSON
   * @throws ApiError 404 with the code `error` for an unknown id
   */
  async get(tenantId: number, orderId: string): Promise<string> {
    const row = await this.#read(tenantId, orderId);
    // The changes are read after the order, so they contain all changes up to the status that was read.
    const history = historyOf(row, await store.readStatusChanges(this.#db, tenantId, row.id));
    const nameOf = await readActorNames(this.#db, tenantId, history?.map(({ by }) => by) ?? []);
    const named: StaffOrder['history'] =
      history?.map(({ status, at, by }) => ({ status, at: at.toISOString(), by: nameOf(by) })) ?? null;
    return staffText(row, named);
  }

  /** Reads a whole order. @throws ApiError 404 with the code `error` for an unknown id */
  async #read(tenantId: number, orderId: string): Promise<store.OrderRow> {
    const [row] = isUuid(orderId) ? await store.readWhole(this.#db, tenantId, [orderId]) : [];
    if (row === undefined) {
      throw notFound('order');
    }
    return row;
  }

  /** Returns the list of all orders of the credential, newest first. */
  listOfCaller({ tenantId, credentialId }: Caller): KeysetList<store.OrderSummary> {
    return store.listOfCredential(this.#db, tenantId, credentialId);
  }

  /**
   * Returns the list of the tenant's orders that pass the filters of the query.
   * @throws ApiError 400 `invalid_request`
   */
  listOfTenant(tenantId: number, query: StaffOrderQuery): KeysetList<ListedOrder> {
    return listOfTenant(this.#db, tenantId, filterOf(query, Date.now()), orderOf(query));
  }

  /**
   * Yields the listed orders as JSON, with commas between them. Reads them in groups, so that only one group is in memory at a time. The
   * orders of a group are as large as those before it, so that most groups have about `GROUP_LENGTH` characters.
   */
  async *textsOf(tenantId: number, query: StaffOrderQuery, listed: ListedOrder[]): AsyncGenerator<string> {
    let count = FIRST_GROUP;
    for (let from = 0; from < listed.length; ) {
      const group = listed.slice(from, from + count);
      const text = await this.#groupText(tenantId, group, orderOf(query));
      yield text;
      from += group.length;
      count = Math.min(Math.max(Math.round((GROUP_LENGTH * group.length) / text.length), 1), LARGEST_GROUP);
    }
  }

  async #groupText(tenantId: number, group: ListedOrder[], order: ListOrder): Promise<string> {
    const states = new Map<string, OrderState>(group.map(({ id, ...state }) => [id, state]));
    const rows = await withRetries(() => store.readWhole(this.#db, tenantId, [...states.keys()], order));
    // These rows were read after the list, so the status of an order may have changed since the list was read. Each order shows the status
    // that it had when the list was read.
    return rows.map((row) => staffText({ ...row, ...states.get(row.id) })).join(',');
  }
}

function orderOf({ order }: StaffOrderQuery): ListOrder {
  return order === 'oldest' ? OLDEST_FIRST : NEWEST_FIRST;
}

function externalKey({ tenantId, credentialId }: Caller, externalOrderId: string): store.ExternalKey {
  return { tenantId, credentialId, externalOrderId };
}
