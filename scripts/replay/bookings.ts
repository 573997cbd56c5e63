/** One booking of the CSV file. `readBookings` has moved its stay into the future, because the service refuses stays in the past. */
export interface Booking {
  /**
   * Position of the booking in the file, starting at 1. It is part of the external id, and it gives the order of bookings of the same day.
   */
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
const COLUMNS =
  'hotel,booked_on,check_in,check_out,room_type,adults,children,babies,channel,nightly_rate,final_status,final_status_on';

/**
 * Reads the first `most` bookings of a CSV text. Shifts all dates by the same number of days, so that the earliest check-in is the day
 * after `today`.
 * @param most the maximum number of bookings
 * @throws Error if the text does not have the expected columns, or has no bookings
 */
export function readBookings(csv: string, today: string, most = Number.POSITIVE_INFINITY): Booking[] {
  const [columns, ...lines] = csv.trimEnd().split(/\r?\n/);
  if (columns !== COLUMNS || lines.length === 0) {
    throw new Error(`The file must have bookings under the columns ${COLUMNS}.`);
  }
  const bookings = lines.slice(0, most).map((text, index) => parseLine(text, index + 1));
  const earliest = bookings.map(({ checkIn }) => checkIn).reduce((first, day) => (day < first ? day : first));
  const shift = Math.round((Date.parse(today) - Date.parse(earliest)) / DAY_MS) + 1;
  return bookings.map((booking) => ({
    ...booking,
    bookedOn: dayAfter(booking.bookedOn, shift),
    checkIn: dayAfter(booking.checkIn, shift),
    checkOut: dayAfter(booking.checkOut, shift),
    finalStatusOn: dayAfter(booking.finalStatusOn, shift),
  }));
}

function parseLine(text: string, line: number): Booking {
  const [hotel = '', bookedOn = '', checkIn = '', checkOut = '', roomType = '', ...others] = text.split(',');
  const [adults, children, babies, , , finalStatus, finalStatusOn = ''] = others;
  return {
    line,
    hotel,
    roomType,
    bookedOn,
    checkIn,
    checkOut,
    guests: Math.max(1, Number(adults) + Number(children) + Number(babies)),
    finalStatus: finalStatus as Booking['finalStatus'],
    finalStatusOn,
  };
}

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the nights of a stay. The list is empty if the stay ends on the day on which it begins. */
export function nightsOf({ checkIn, checkOut }: Pick<Booking, 'checkIn' | 'checkOut'>): string[] {
  const nights = Math.max(0, Math.round((Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS));
  return Array.from({ length: nights }, (_, offset) => dayAfter(checkIn, offset));
}

/** Change of a booking on one day: `create` makes the booking, and `finish` gives it its final status. */
interface Step {
  day: string;
  kind: 'create' | 'finish';
  booking: Booking;
}

/**
 * Returns the steps of the bookings, ordered by day. A `finish` step comes before the `create` steps of the same day if its booking was
 * made on an earlier day. So if this booking is cancelled, the new bookings of the day can use its room. Steps of the same kind have the
 * order of the file.
 */
export function stepsOf(bookings: Booking[]): Step[] {
  const steps = bookings.flatMap((booking): Step[] => [
    { day: booking.bookedOn, kind: 'create', booking },
    { day: booking.finalStatusOn, kind: 'finish', booking },
  ]);
  // The `finish` step of a booking must come after its `create` step. If a booking has both steps on the same day, its `finish` step comes
  // after all `create` steps of that day.
  const rank = ({ kind, booking, day }: Step) => (kind === 'create' ? 1 : booking.bookedOn === day ? 2 : 0);
  return steps.sort((a, b) => a.day.localeCompare(b.day) || rank(a) - rank(b) || a.booking.line - b.booking.line);
}

/**
 * Lane: all steps of the bookings for one room type of one hotel. The steps of a lane run one after another. Lanes run concurrently,
 * because a booking in one lane takes no room from another lane.
 */
export interface Lane {
  hotel: string;
  roomType: string;
  capacity: number;
  steps: Step[];
}

/**
 * Groups the bookings into lanes, one for each room type of a hotel. The capacity of a lane is 90 % of the largest number of rooms that
 * its bookings need on one night. So the service has to refuse some bookings.
 */
export function lanesOf(bookings: Booking[]): Lane[] {
  const byLane = Map.groupBy(bookings, ({ hotel, roomType }) => `${hotel} ${roomType}`);
  return [...byLane.values()].map((own) => {
    const steps = stepsOf(own);
    const { hotel, roomType } = own[0] as Booking;
    return { hotel, roomType, capacity: Math.max(1, Math.floor(mostAtOnce(steps) * 0.9)), steps };
  });
}

function mostAtOnce(steps: Step[]): number {
  const count = new NightCount();
  return steps.reduce((most, { kind, booking }) => {
    if (kind === 'create') {
      count.add(booking, 1);
      return Math.max(most, count.peak(booking));
    }
    count.add(booking, booking.finalStatus === 'Canceled' ? -1 : 0);
    return most;
  }, 0);
}

/** Counts the rooms that are held on each night, independently of the service, so that the two counts can be compared. */
export class NightCount {
  readonly #held = new Map<string, number>();

  add(booking: Booking, rooms: 1 | 0 | -1): void {
    for (const night of nightsOf(booking)) {
      this.#held.set(night, this.on(night) + rooms);
    }
  }

  on(night: string): number {
    return this.#held.get(night) ?? 0;
  }

  /** Counts the held rooms of each night of the stay, and returns the largest of these numbers. */
  peak(booking: Booking): number {
    return Math.max(0, ...nightsOf(booking).map((night) => this.on(night)));
  }
}
