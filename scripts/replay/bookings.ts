/** One booking of the file, its dates already shifted. */
export interface Booking {
  /** Its place in the file, from 1: the external id, and the order within a day. */
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
 * Reads the first bookings of a CSV file and shifts every date by one number of whole days, so that the earliest arrival is the
 * day after `today`.
 * @throws Error where the file is of another kind
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

/** The day so many days later. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The nights of a stay; none where it ends on the day it begins. */
export function nightsOf({ checkIn, checkOut }: Pick<Booking, 'checkIn' | 'checkOut'>): string[] {
  const nights = Math.max(0, Math.round((Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS));
  return Array.from({ length: nights }, (_, offset) => dayAfter(checkIn, offset));
}

/** What happens to a booking on a day: it is made, or it comes to its end. */
export interface Step {
  day: string;
  kind: 'create' | 'finish';
  booking: Booking;
}

/** The steps of many bookings in the order they happened: day by day; on one day ends come first, then new bookings, as filed. */
export function stepsOf(bookings: Booking[]): Step[] {
  const steps = bookings.flatMap((booking): Step[] => [
    { day: booking.bookedOn, kind: 'create', booking },
    { day: booking.finalStatusOn, kind: 'finish', booking },
  ]);
  // What is booked and over on one day ends after it is made.
  const rank = ({ kind, booking, day }: Step) => (kind === 'create' ? 1 : booking.bookedOn === day ? 2 : 0);
  return steps.sort((a, b) => a.day.localeCompare(b.day) || rank(a) - rank(b) || a.booking.line - b.booking.line);
}

/** One room type of one hotel: nothing that happens in it touches another, so lanes run side by side, each in its order. */
export interface Lane {
  hotel: string;
  roomType: string;
  capacity: number;
  steps: Step[];
}

/** Every lane has a tenth fewer rooms than it once had bookings for at the same time, so that some are refused. */
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

/** Counts held rooms by night, on its own, knowing nothing of the service. */
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

  /** The most rooms held on any night of the stay. */
  peak(booking: Booking): number {
    return Math.max(0, ...nightsOf(booking).map((night) => this.on(night)));
  }
}
