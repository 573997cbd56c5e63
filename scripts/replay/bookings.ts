/** One booking of the file, its dates already shifted. */
export interface Booking {
  /** Its line in the file, from 1: the external id, and the order within a day. */
  line: number;
  hotel: string;
  roomType: string;
  bookedOn: string;
  checkIn: string;
  checkOut: string;
  guests: number;
  finalStatus: 'Canceled' | 'Check-Out' | 'No-Show';
  finalStatusOn: string;
}

const DAY_MS = 86_400_000;

/**
 * Reads the bookings of a CSV file (hotel, booked_on, check_in, check_out, room_type, adults, children, babies, channel,
 * nightly_rate, final_status, final_status_on) and shifts every date by one number of whole days, so that the earliest arrival
 * is the day after `today`.
 */
export function readBookings(csv: string, today: string, most = Number.POSITIVE_INFINITY): Booking[] {
  const bookings = csv
    .trimEnd()
    .split('\n')
    .slice(1, most + 1)
    .map((text, index) => parseLine(text, index + 1));
  const earliest = bookings.reduce((first, { checkIn }) => (checkIn < first ? checkIn : first), '9999-12-31');
  const shiftMs = Date.parse(today) + DAY_MS - Date.parse(earliest);
  const shifted = (date: string) => new Date(Date.parse(date) + shiftMs).toISOString().slice(0, 10);
  return bookings.map((booking) => ({
    ...booking,
    bookedOn: shifted(booking.bookedOn),
    checkIn: shifted(booking.checkIn),
    checkOut: shifted(booking.checkOut),
    finalStatusOn: shifted(booking.finalStatusOn),
  }));
}

function parseLine(text: string, line: number): Booking {
  const [hotel, bookedOn, checkIn, checkOut, roomType, adults, children, babies, , , finalStatus, finalStatusOn] =
    text.split(',');
  return {
    line,
    hotel: String(hotel),
    roomType: String(roomType),
    bookedOn: String(bookedOn),
    checkIn: String(checkIn),
    checkOut: String(checkOut),
    guests: Math.max(1, Number(adults) + Number(children) + Number(babies)),
    finalStatus: finalStatus as Booking['finalStatus'],
    finalStatusOn: String(finalStatusOn),
  };
}

/** What happens to a booking on a day: it is made, or it comes to its end. */
export interface Step {
  day: string;
  kind: 'create' | 'finish';
  booking: Booking;
}

/** The steps of many bookings in the order they happened: day by day; on one day ends come first, then new bookings, as filed. */
export function stepsOf(bookings: Booking[]): Step[] {
  const rank = ({ kind, booking, day }: Step) => (kind === 'create' ? 1 : booking.bookedOn === day ? 2 : 0);
  const steps = bookings.flatMap((booking): Step[] => {
    const endsOn = booking.finalStatusOn < booking.bookedOn ? booking.bookedOn : booking.finalStatusOn;
    return [
      { day: booking.bookedOn, kind: 'create', booking },
      { day: endsOn, kind: 'finish', booking },
    ];
  });
  return steps.sort(
    (a, b) => compare(a.day, b.day) || rank(a) - rank(b) || a.booking.line - b.booking.line,
  );
}

function compare(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

/** Counts held rooms by night, on its own, knowing nothing of the service. */
export class NightCount {
  readonly #held = new Map<string, number>();

  static #nights({ checkIn, checkOut }: Booking): string[] {
    const nights = (Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS;
    const day = (offset: number) => new Date(Date.parse(checkIn) + offset * DAY_MS).toISOString().slice(0, 10);
    return Array.from({ length: Math.max(0, nights) }, (_, offset) => day(offset));
  }

  add(booking: Booking, rooms: 1 | -1): void {
    for (const night of NightCount.#nights(booking)) {
      this.#held.set(night, this.on(night) + rooms);
    }
  }

  on(night: string): number {
    return this.#held.get(night) ?? 0;
  }

  /** The most rooms held on any night of the stay. */
  peak(booking: Booking): number {
    return Math.max(0, ...NightCount.#nights(booking).map((night) => this.on(night)));
  }

  nights(): string[] {
    return [...this.#held.keys()].sort();
  }
}

/** A tenth below the most rooms that were ever held at once, one at the least. */
export function capacityFor(steps: Step[]): number {
  const count = new NightCount();
  let most = 0;
  for (const { kind, booking } of steps) {
    if (kind === 'create') {
      count.add(booking, 1);
      most = Math.max(most, count.peak(booking));
    } else if (booking.finalStatus === 'Canceled') {
      count.add(booking, -1);
    }
  }
  return Math.max(1, Math.floor(most * 0.9));
}
