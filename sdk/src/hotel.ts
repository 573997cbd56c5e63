import type { Operations } from './generated/third-party.ts';
import { cancelOnce } from './cancel-once.ts';
import type { CallOptions } from './options.ts';
import { type EntryOf, entriesOf, type ListQuery } from './pages.ts';
import type { Transport } from './transport.ts';

export type RoomType = EntryOf<Operations['listRoomTypes']['answer']>;
export type AvailabilityQuery = Operations['getAvailability']['query'];
export type Availability = Operations['getAvailability']['answer'];
export type ReservationQuoteQuery = Operations['quoteReservation']['query'];
export type ReservationQuote = Operations['quoteReservation']['answer'];
export type ReservationCreate = Operations['createReservation']['body'];
export type Reservation = Operations['getReservation']['answer'];
export type ReservationStatus = Reservation['status'];

export class Hotel {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /** Returns every room type that can be booked. */
  async rooms(options?: CallOptions): Promise<RoomType[]> {
    const rooms = await this.#transport.call('listRoomTypes', {}, options);
    return Array.isArray(rooms) ? rooms : rooms.results;
  }

  /**
   * Returns, for each night, the number of rooms of one room type that can be sold. The first night is `check_in`, and the last night is
   * the day before `check_out`. Dates have the form `YYYY-MM-DD`.
   * @throws RoomserviceError `room_type_not_found`, `invalid_request`
   */
  async availability(query: AvailabilityQuery, options?: CallOptions): Promise<Availability> {
    return await this.#transport.call('getAvailability', { query }, options);
  }

  /**
   * Returns the price that `reservations.create` would charge for a stay now. The call books nothing. If the stay cannot
   * be booked, the call throws the same error as `reservations.create`.
   * @throws RoomserviceError `room_not_available`, `room_type_not_found`, `invalid_request`
   */
  async quote(query: ReservationQuoteQuery, options?: CallOptions): Promise<ReservationQuote> {
    return await this.#transport.call('quoteReservation', { query }, options);
  }
}

export class Reservations {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /**
   * Books a stay. The service creates at most one reservation per `external_reservation_id`. So the SDK may send the request again if the
   * response is lost. If the id was already in use, the result is the stored reservation, and `isReplayed` is true. This also happens if an
   * earlier attempt of the same call has created the reservation.
   * @throws RoomserviceError `room_not_available`, `room_type_not_found`, `invalid_request`
   */
  async create(reservation: ReservationCreate, options?: CallOptions): Promise<Reservation & { isReplayed: boolean }> {
    return await this.#transport.create('createReservation', { body: reservation }, options);
  }

  /**
   * Returns one reservation of this credential.
   * @throws RoomserviceError `reservation_not_found`
   */
  async get(externalReservationId: string, options?: CallOptions): Promise<Reservation> {
    return await this.#transport.call('getReservation', { path: pathOf(externalReservationId) }, options);
  }

  /**
   * Cancels a reservation whose status is neither `completed` nor `cancelled`. Its nights can then be sold again.
   * @throws RoomserviceError `reservation_not_found`, `invalid_status_transition`
   */
  async cancel(externalReservationId: string, options?: CallOptions): Promise<Reservation> {
    return await cancelOnce(
      () => this.#transport.call('cancelReservation', { path: pathOf(externalReservationId) }, options),
      () => this.get(externalReservationId, options),
    );
  }

  /** Yields every reservation of this credential, newest first. */
  list(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<Reservation, void, undefined> {
    const readPage = (page: { page: number; page_size: number }) =>
      this.#transport.call('listReservations', { query: page }, options);
    return entriesOf<Reservation>(readPage, query, (reservation) => reservation.reservation_id);
  }
}

function pathOf(externalReservationId: string) {
  return { external_reservation_id: externalReservationId };
}
