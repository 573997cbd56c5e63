import { type Booking, type Lane, NightCount } from './bookings.ts';

/** Function that sends a request with an optional JSON body to the service. Returns the status and the parsed body of the response. */
export type Call = (
  method: string,
  path: string,
  options: { headers: Headers; json?: unknown },
) => Promise<{ status: number; body: unknown }>;
type Headers = Record<string, string>;

export const RESERVATIONS = '/v1/third-party/hotels/reservations/';

/**
 * Function that calls the service, and the authentication headers of the three callers of the service. The partner books and cancels, the
 * staff set final statuses, and the PMS reads the inventory.
 */
export interface Actors {
  call: Call;
  partner: Headers;
  staff: Headers;
  pms: Headers;
}

/**
 * Returns the hotels in the form of the field `properties` of a tenant document, which is the JSON file that describes a tenant. A lane has
 * the bookings for one room type of one hotel, so each lane becomes one room type.
 */
export function propertiesOf(lanes: Lane[]) {
  return [...Map.groupBy(lanes, (lane) => lane.hotel)].map(([hotel, own]) => ({
    name: hotel,
    country_code: 'PT',
    timezone: 'Europe/Lisbon',
    room_types: own.map(({ roomType, capacity }) => ({
      name: roomType,
      max_occupancy: 100,
      base_price: '80.00',
      physical_capacity: capacity,
    })),
  }));
}

export async function openActors(call: Call, owner: Headers): Promise<Actors> {
  const issue = async (path: string) => {
    const { body } = await call('POST', path, { headers: owner, json: { label: 'replay' } });
    return body as { api_key: string; api_secret: string };
  };
  const partner = await issue('/v1/third-party/credentials/');
  const pms = await issue('/v1/channel-manager/credentials/');
  return {
    call,
    staff: owner,
    partner: { 'x-api-key': partner.api_key, 'x-api-secret': partner.api_secret },
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
  };
}

/** Final state of a booking. It is `refused` if one of its nights was full, and `without nights` if it ends on its day of arrival. */
export type Outcome = 'confirmed' | 'cancelled' | 'completed' | 'no_show' | 'refused' | 'without nights';

const OUTCOMES = { Canceled: 'cancelled', 'Check-Out': 'completed', 'No-Show': 'no_show' } as const;

export interface Driven {
  lane: Lane;
  roomTypeId: string;
  outcomes: Map<number, Outcome>;
  /** Descriptions of all responses with a wrong status. The list is empty if every response had the expected status. */
  faults: string[];
}

/**
 * Sends the bookings of all lanes to the API. A lane has the bookings of one room type of a hotel. The lanes run concurrently, but the
 * steps of one lane run one after another. An independent count of the held rooms gives the expected status of every response.
 */
export async function drive(actors: Actors, lanes: Lane[], onStep: () => void): Promise<Driven[]> {
  const { body } = await actors.call('GET', '/v1/third-party/hotels/rooms/', { headers: actors.partner });
  const rooms = body as { room_type_id: string; name: string; property: { name: string } }[];
  return await Promise.all(
    lanes.map(async (lane) => {
      const room = rooms.find(({ name, property }) => property.name === lane.hotel && name === lane.roomType);
      if (room === undefined) {
        throw new Error(`The tenant has no room type ${lane.hotel} ${lane.roomType}.`);
      }
      return await new LaneDrive(actors, lane, room.room_type_id).run(onStep);
    }),
  );
}

export function externalIdOf(booking: Booking): string {
  return `booking-${booking.line}`;
}

class LaneDrive {
  readonly #actors: Actors;
  readonly #count = new NightCount();
  readonly #ids = new Map<number, string>();
  readonly #driven: Driven;

  constructor(actors: Actors, lane: Lane, roomTypeId: string) {
    this.#actors = actors;
    this.#driven = { lane, roomTypeId, outcomes: new Map(), faults: [] };
  }

  async run(onStep: () => void): Promise<Driven> {
    for (const { kind, booking } of this.#driven.lane.steps) {
      if (kind === 'create') {
        await this.#create(booking);
      } else if (this.#ids.has(booking.line)) {
        await this.#finish(booking);
      }
      onStep();
    }
    return this.#driven;
  }

  async #create(booking: Booking): Promise<void> {
    const { call, partner } = this.#actors;
    const json = {
      external_reservation_id: externalIdOf(booking),
      room_type_id: this.#driven.roomTypeId,
      check_in: booking.checkIn,
      check_out: booking.checkOut,
      guests: booking.guests,
      guest: { name: `Guest ${booking.line}`, phone: '+351 000' },
    };
    const { status, body } = await call('POST', RESERVATIONS, { headers: partner, json });
    this.#expect(booking, status, this.#dueStatus(booking));
    if (status === 201) {
      this.#count.add(booking, 1);
      this.#ids.set(booking.line, (body as { reservation_id: string }).reservation_id);
      this.#driven.outcomes.set(booking.line, 'confirmed');
    } else {
      this.#driven.outcomes.set(booking.line, status === 400 ? 'without nights' : 'refused');
    }
  }

  #dueStatus(booking: Booking): number {
    if (booking.checkOut <= booking.checkIn) {
      return 400;
    }
    return this.#count.peak(booking) >= this.#driven.lane.capacity ? 409 : 201;
  }

  async #finish(booking: Booking): Promise<void> {
    const { call, partner, staff } = this.#actors;
    const outcome = OUTCOMES[booking.finalStatus];
    const { status } =
      outcome === 'cancelled'
        ? await call('POST', `${RESERVATIONS}${externalIdOf(booking)}/cancel/`, { headers: partner })
        : await call('POST', `/v1/staff/reservations/${this.#ids.get(booking.line)}/status/`, {
            headers: staff,
            json: { status: outcome },
          });
    this.#expect(booking, status, 200);
    this.#count.add(booking, outcome === 'cancelled' ? -1 : 0);
    this.#driven.outcomes.set(booking.line, outcome);
  }

  #expect(booking: Booking, status: number, due: number): void {
    if (status !== due) {
      this.#driven.faults.push(`booking ${booking.line}: the status was ${status}, but ${due} was expected`);
    }
  }
}
