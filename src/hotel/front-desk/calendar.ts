import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { invalidField } from '#platform/errors.ts';
import { countNights, type DateText, nightsOf, todayIn } from '#platform/lib/dates.ts';
import { readHeld } from '../nights/nights.ts';
import { nightPrice, type PlanCalendar, readCalendars } from '../rates/rates.ts';
import { findProperty, type RoomTypeRow } from '../rooms/rooms.ts';
import type { CalendarQuery, CalendarRatePlan, CalendarRoomType } from './schema.ts';

const MAX_NIGHTS = 400;
const ROOM_TYPES_A_BATCH = 10;

interface Calendar {
  from: DateText;
  to: DateText;
  today: DateText;
  roomTypes: RoomTypeRow[];
}

/**
 * @throws ApiError 400 `invalid_request` if the range is empty, reversed or longer than 400 nights, and 404 (code `error`) if the tenant
 * has no active property with this id
 */
export async function findCalendar(db: Database, tenantId: number, query: CalendarQuery): Promise<Calendar> {
  const { from, to } = query;
  const nights = countNights(from, to);
  if (nights < 1) {
    throw invalidField('to', 'must be after `from`');
  }
  if (nights > MAX_NIGHTS) {
    throw invalidField('to', `must be at most ${MAX_NIGHTS} nights after \`from\``);
  }
  const { property, roomTypes } = await findProperty(db, tenantId, query.property_id);
  return { from, to, today: todayIn(property.timezone), roomTypes };
}

/**
 * Yields the calendar as JSON text. Reads the next room types only when the caller has taken the text of the previous ones. So the memory
 * does not grow with the number of room types, and a slow caller holds no database connection.
 */
export async function* calendarTexts(db: Database, tenantId: number, calendar: Calendar): AsyncGenerator<string> {
  const { from, to, today, roomTypes } = calendar;
  const nights = nightsOf(from, to);
  let before = `{"from":"${from}","to":"${to}","today":"${today}","room_types":[`;
  for (let start = 0; start < roomTypes.length; start += ROOM_TYPES_A_BATCH) {
    const batch = roomTypes.slice(start, start + ROOM_TYPES_A_BATCH);
    for (const roomType of await withRetries(() => readBatch(db, tenantId, batch, nights, to))) {
      yield before + JSON.stringify(roomType);
      before = ',';
    }
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

async function readBatch(
  db: Database,
  tenantId: number,
  roomTypes: RoomTypeRow[],
  nights: DateText[],
  to: DateText,
): Promise<CalendarRoomType[]> {
  const from = nights[0] ?? to;
  const ranges = roomTypes.map(({ id }) => ({ tenant_id: tenantId, room_type_id: id, check_in: from, check_out: to }));
  const [plans, held] = await Promise.all([readCalendars(db, ranges), readHeld(db, ranges)]);
  return roomTypes.map(({ id, name, physical_capacity }, index) => ({
    id,
    name,
    physical_capacity,
    held: held[index] ?? [],
    rate_plans: (plans[index] ?? []).filter(({ is_active }) => is_active).map((plan) => planShape(plan, nights)),
  }));
}

function planShape({ is_active, nights: stored, ...plan }: PlanCalendar, dates: DateText[]): CalendarRatePlan {
  const nights = dates.map((date) => stored[date]);
  return {
    ...plan,
    prices: nights.map((night) => nightPrice(plan, night)),
    is_own: nights.map((night) => typeof night?.price === 'string'),
    closed: nights.map((night) => night?.is_sold_out ?? false),
  };
}
