import { Events, Webhook } from './events.ts';
import { ROUTES } from './generated/third-party.ts';
import { Hotel, Reservations } from './hotel.ts';
import { type ClientOptions, checkOptions } from './options.ts';
import { Menu, Orders } from './restaurant.ts';
import { Transport } from './transport.ts';

/**
 * Client of the third-party API, with one credential of one tenant. The client retries a call after a temporary failure, such as a
 * timeout or a 5xx. It throws a `RoomserviceError` if the last attempt fails too.
 */
export class Roomservice {
  readonly menu: Menu;
  readonly orders: Orders;
  readonly hotel: Hotel;
  readonly reservations: Reservations;
  readonly webhook: Webhook;
  readonly events: Events;

  /** @throws TypeError if an option is missing or unsafe, for example `http` to another machine */
  constructor(options: ClientOptions) {
    const { apiKey, apiSecret } = options;
    const transport = new Transport(ROUTES, checkOptions(options), { 'x-api-key': apiKey, 'x-api-secret': apiSecret });
    this.menu = new Menu(transport);
    this.orders = new Orders(transport);
    this.hotel = new Hotel(transport);
    this.reservations = new Reservations(transport);
    this.webhook = new Webhook(transport);
    this.events = new Events(transport);
  }
}
