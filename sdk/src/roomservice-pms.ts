import { ROUTES, type Operations } from './generated/pms.ts';
import { type CallOptions, type ClientOptions, checkOptions } from './options.ts';
import { Transport } from './transport.ts';

export type PmsProperty = Operations['pmsListProperties']['answer'][number];
export type PmsRoomType = Operations['pmsListRoomTypes']['answer'][number];
export type PmsInventoryEntry = Operations['pmsGetInventory']['answer'][number];
export type PmsRate = Operations['pmsGetRates']['answer'][number];
export type PmsReservation = Operations['pmsGetReservation']['answer'];

/**
 * Client of the API for property management systems, with a PMS credential of one tenant. The client retries every call after a temporary
 * failure. This is safe, because a read changes no data, and a repeated write sets the same price or restriction again.
 */
export class RoomservicePms {
  readonly #transport: Transport<Operations>;

  /** @throws TypeError if an option is missing or unsafe, for example `http` to another machine */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(ROUTES, checkOptions(options), {
      'x-pms-api-key': options.apiKey,
      'x-pms-api-secret': options.apiSecret,
    });
  }

  async properties(options?: CallOptions): Promise<PmsProperty[]> {
    return await this.#transport.call('pmsListProperties', {}, options);
  }

  /** Returns the room types of a property, each with its active rate plans. */
  async roomTypes(propertyId: string, options?: CallOptions): Promise<PmsRoomType[]> {
    return await this.#transport.call('pmsListRoomTypes', { path: { property_id: propertyId } }, options);
  }

  /**
   * Returns, for each night, how many rooms of a room type exist and how many can still be sold. The second number is negative if more
   * rooms are booked than exist.
   */
  async inventory(query: Operations['pmsGetInventory']['query'], options?: CallOptions): Promise<PmsInventoryEntry[]> {
    return await this.#transport.call('pmsGetInventory', { query }, options);
  }

  /** Returns the price of one rate plan for each night from `check_in` to the day before `check_out`. */
  async rates(query: Operations['pmsGetRates']['query'], options?: CallOptions): Promise<PmsRate[]> {
    return await this.#transport.call('pmsGetRates', { query }, options);
  }

  /** Writes the prices of up to 1,000 days. If one price is invalid, the service writes no price. */
  async putRates(body: Operations['pmsPutRates']['body'], options?: CallOptions): Promise<PmsRate[]> {
    return await this.#transport.call('pmsPutRates', { body }, options);
  }

  /** Writes the restrictions of up to 1,000 days. If one restriction is invalid, the service writes no restriction. */
  async putRestrictions(
    body: Operations['pmsPutRestrictions']['body'],
    options?: CallOptions,
  ): Promise<Operations['pmsPutRestrictions']['answer']> {
    return await this.#transport.call('pmsPutRestrictions', { body }, options);
  }

  /** Returns at most 200 reservations of partners, booking sites and the hotel itself, the latest check-in first. */
  async reservations(
    query: NonNullable<Operations['pmsListReservations']['query']> = {},
    options?: CallOptions,
  ): Promise<PmsReservation[]> {
    return await this.#transport.call('pmsListReservations', { query }, options);
  }

  async reservation(bookingId: string, options?: CallOptions): Promise<PmsReservation> {
    return await this.#transport.call('pmsGetReservation', { path: { booking_id: bookingId } }, options);
  }
}
