import { ROUTES, type Operations } from './generated/pms.ts';
import { type CallOptions, type ClientOptions, checkOptions } from './options.ts';
import { Transport } from './transport.ts';

export type PmsProperty = Operations['pmsListProperties']['answer'][number];
export type PmsRoomType = Operations['pmsListRoomTypes']['answer'][number];
export type PmsInventoryEntry = Operations['pmsGetInventory']['answer'][number];
export type PmsRate = Operations['pmsGetRates']['answer'][number];
export type PmsReservation = Operations['pmsGetReservation']['answer'];

/**
 * The API for property management systems, with a PMS credential of one tenant. Every call may be sent again: reads
 * change nothing, and writes say what a day's price or restriction is, not by how much it changes.
 */
export class RoomservicePms {
  readonly #transport: Transport<Operations>;

  /** @throws TypeError where an option is missing or unsafe */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(ROUTES, checkOptions(options), {
      'x-pms-api-key': options.apiKey,
      'x-pms-api-secret': options.apiSecret,
    });
  }

  async properties(options?: CallOptions): Promise<PmsProperty[]> {
    return await this.#transport.call('pmsListProperties', {}, options);
  }

  /** The room types of a property, each with its active rate plans. */
  async roomTypes(propertyId: string, options?: CallOptions): Promise<PmsRoomType[]> {
    return await this.#transport.call('pmsListRoomTypes', { path: { property_id: propertyId } }, options);
  }

  /** Rooms there are and rooms left, night by night; below zero where more are booked than there are. */
  async inventory(query: Operations['pmsGetInventory']['query'], options?: CallOptions): Promise<PmsInventoryEntry[]> {
    return await this.#transport.call('pmsGetInventory', { query }, options);
  }

  /** The price of every night under a rate plan. */
  async rates(query: Operations['pmsGetRates']['query'], options?: CallOptions): Promise<PmsRate[]> {
    return await this.#transport.call('pmsGetRates', { query }, options);
  }

  /** Writes the prices of up to 1,000 days, all or none. */
  async putRates(body: Operations['pmsPutRates']['body'], options?: CallOptions): Promise<PmsRate[]> {
    return await this.#transport.call('pmsPutRates', { body }, options);
  }

  /** Writes the restrictions of up to 1,000 days, all or none. */
  async putRestrictions(
    body: Operations['pmsPutRestrictions']['body'],
    options?: CallOptions,
  ): Promise<Operations['pmsPutRestrictions']['answer']> {
    return await this.#transport.call('pmsPutRestrictions', { body }, options);
  }

  /** The 200 reservations with the latest check-in, whoever booked them. */
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
