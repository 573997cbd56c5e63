/** Orders: prices, creation, statuses and their history, and the lists of staff. */
import type { ChangeActor } from '#access/actors/actors.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { apiError, asRefusal } from '#platform/errors.ts';
import { newId, timeOf } from '#platform/lib/ids.ts';
import { searchName, searchPhone } from '#platform/lib/unicode.ts';
import type { ReadListedMenu } from '../menu/menu.ts';
import type { RefuseIfClosed } from '../opening/opening.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import type { OrderStatus } from './order-status.ts';
import { priceItems } from './pricing.ts';
import type { OrderCreate, OrderQuoteRequest, OrderResponse } from './schema.ts';
import { type ChangeBy, setStatus } from './set-status.ts';
import * as store from './store.ts';

export { mayFollow, type OrderStatus, type OrderType } from './order-status.ts';

interface Dependencies {
  db: Database;
  readListedMenu: ReadListedMenu;
  refuseIfClosed: RefuseIfClosed;
  transactionWithEvents: TransactionWithEvents;
}

/**
 * Maximum length of an order that is inserted in a batch, in UTF-16 code units of its texts. One statement for 16 orders with 128 KiB of
 * lines takes 110 ms, and the other orders of the batch would wait for it. By itself such an order takes 4 ms.
 */
const MAX_BATCHED_LENGTH = 16 * 1024;

export class Orders {
  readonly #parts: Dependencies;
  readonly #insertTogether: (order: store.NewOrder) => Promise<boolean>;
  readonly #findSummary: (key: store.ExternalKey) => Promise<store.OrderSummary | undefined>;

  constructor(parts: Dependencies) {
    const { db } = parts;
    this.#parts = parts;
    this.#insertTogether = batching(
      db,
      (orders: store.NewOrder[]) => this.#insertAll(orders),
      ({ tenant_id }) => tenant_id,
    );
    this.#findSummary = batching(
      db,
      (keys: store.ExternalKey[]) => store.findByExternalIds(db, keys),
      ({ tenantId }) => tenantId,
    );
  }

  /**
   * Places an order at most once for each external id (rule 22). If an earlier call has placed it, returns the stored order even if
   * this call would be refused.
   * @throws ApiError 400 `item_not_found`, `variant_not_found`, `addon_not_found`, `invalid_request`, 409 `restaurant_closed`
   */
  async place(caller: Caller, input: OrderCreate) {
    const id = newId();
    const inserted = await this.#insert(caller, input, id).catch(asRefusal);
    if (inserted === true) {
      const { external_order_id } = input;
      return { order: partnerShape({ id, external_order_id, status: 'pending' }), isReplayed: false };
    }
    const stored = await this.#findSummary(externalKey(caller, input.external_order_id));
    if (stored === undefined) {
      throw inserted || new Error(`The external id of the order ${id} is taken, but no order has it.`);
    }
    // If the database response to the insert is lost, `#insert` repeats the insert, and finds the external id taken by its own order.
    // The stored order then has the id that this call made, so it is new and not a replay.
    return { order: partnerShape(stored), isReplayed: stored.id !== id };
  }

  /**
   * @returns the JSON of an `OrderQuote`
   * @throws ApiError as `place` does
   */
  async quote(caller: Caller, input: OrderQuoteRequest): Promise<string> {
    const { lines, total } = await this.#price(caller, input);
    return `{"lines":${lines},${JSON.stringify({ total, currency: caller.currency }).slice(1)}`;
  }

  /** An invalid item is reported even while the restaurant is closed. */
  async #price(caller: Caller, { items }: OrderQuoteRequest) {
    const priced = await priceItems(await this.#parts.readListedMenu(caller), items);
    await this.#parts.refuseIfClosed(caller.tenantId);
    return priced;
  }

  /** Returns false if the credential has an order with this external id already. */
  async #insert(caller: Caller, input: OrderCreate, id: string): Promise<boolean> {
    const row = orderRow(caller, input, { id, ...(await this.#price(caller, input)) });
    return lengthOf(row) > MAX_BATCHED_LENGTH
      ? (await this.#insertAll([row]))[0] === true
      : await this.#insertTogether(row);
  }

  #insertAll(orders: store.NewOrder[]): Promise<boolean[]> {
    return withRetries(() => store.insertOrders(this.#parts.db, orders));
  }

  /** @throws ApiError 404 `order_not_found`, also for an order of another credential */
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
    const change: ChangeBy = { status: 'cancelled', by: { type: 'partner', id: caller.credentialId } };
    return partnerShape(await setStatus(this.#parts.transactionWithEvents, caller.tenantId, id, change));
  }

  /** @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition` */
  async moveAlong(tenantId: number, orderId: string, status: OrderStatus, by: ChangeActor): Promise<void> {
    await setStatus(this.#parts.transactionWithEvents, tenantId, orderId, { status, by });
  }
}

function externalKey({ tenantId, credentialId }: Caller, externalOrderId: string): store.ExternalKey {
  return { tenantId, credentialId, externalOrderId };
}

function orderRow(
  { tenantId, credentialId, currency }: Caller,
  input: OrderCreate,
  made: { id: string; lines: string; total: string },
): store.NewOrder {
  const { name = null, phone = null } = input.customer ?? {};
  // A list of the orders of a period can compare ids instead of times.
  const createdAt = timeOf(made.id);
  return {
    tenant_id: tenantId,
    id: made.id,
    credential_id: credentialId,
    external_order_id: input.external_order_id,
    status: 'pending',
    order_type: input.order_type ?? 'delivery',
    status_changed_at: createdAt,
    customer_name: name,
    customer_phone: phone,
    customer_search_name: name === null ? null : searchName(name),
    customer_digits: searchPhone(phone),
    delivery_address: input.delivery_address ?? null,
    notes: input.notes ?? null,
    lines: made.lines,
    total: made.total,
    currency,
    created_at: createdAt,
  };
}

export function partnerShape(row: store.OrderSummary): OrderResponse {
  return {
    success: true,
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
  };
}

function lengthOf({ lines, notes, delivery_address }: store.NewOrder): number {
  return lines.length + (notes?.length ?? 0) + (delivery_address?.length ?? 0);
}
