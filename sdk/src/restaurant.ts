import type { Operations } from './generated/third-party.ts';
import { cancelOnce } from './cancel-once.ts';
import type { CallOptions } from './options.ts';
import { type EntryOf, entriesOf, type ListQuery } from './pages.ts';
import type { Transport } from './transport.ts';

export type Dish = EntryOf<Operations['getMenu']['answer']>;
export type OrderCreate = Operations['createOrder']['body'];
export type OrderQuoteRequest = Operations['quoteOrder']['body'];
export type OrderQuote = Operations['quoteOrder']['answer'];
export type Order = Operations['getOrder']['answer'];
export type OrderStatus = Order['status'];

export class Menu {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /** Returns every dish that can be ordered, with its variants and add-ons. The `sku` of a dish is the `item_id` in an order. */
  async list(options?: CallOptions): Promise<Dish[]> {
    const dishes = await this.#transport.call('getMenu', {}, options);
    return Array.isArray(dishes) ? dishes : dishes.results;
  }
}

export class Orders {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /**
   * Places an order. The service creates at most one order per `external_order_id`. So the SDK may send the request again if the response
   * is lost. If the id was already in use, the result is the stored order, and `isReplayed` is true. This also happens if an earlier
   * attempt of the same call has created the order.
   * @throws RoomserviceError `item_not_found`, `variant_not_found`, `addon_not_found`, `invalid_request`, `restaurant_closed`. For
   * `restaurant_closed`, `retryAfterSeconds` is the number of seconds until the next opening, or null if that time is unknown. The SDK does
   * not wait for the opening.
   */
  async create(order: OrderCreate, options?: CallOptions): Promise<Order & { isReplayed: boolean }> {
    return await this.#transport.create('createOrder', { body: order }, options);
  }

  /**
   * Returns the order lines and the total price that an order of these items would have now. Places no order.
   * @throws RoomserviceError the errors of `create`
   */
  async quote(order: OrderQuoteRequest, options?: CallOptions): Promise<OrderQuote> {
    return await this.#transport.call('quoteOrder', { body: order }, options);
  }

  /**
   * Returns one order of this credential.
   * @throws RoomserviceError `order_not_found`
   */
  async get(externalOrderId: string, options?: CallOptions): Promise<Order> {
    return await this.#transport.call('getOrder', { path: { external_order_id: externalOrderId } }, options);
  }

  /**
   * Cancels an order whose status is neither `completed` nor `cancelled`.
   * @throws RoomserviceError `order_not_found`, `invalid_status_transition`
   */
  async cancel(externalOrderId: string, options?: CallOptions): Promise<Order> {
    return await cancelOnce(
      () => this.#transport.call('cancelOrder', { path: { external_order_id: externalOrderId } }, options),
      () => this.get(externalOrderId, options),
    );
  }

  /** Yields every order of this credential, newest first. Example: `for await (const order of roomservice.orders.list())`. */
  list(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<Order, void, undefined> {
    const readPage = (page: { page: number; page_size: number }) =>
      this.#transport.call('listOrders', { query: page }, options);
    return entriesOf<Order>(readPage, query, (order) => order.order_id);
  }
}
