import { callForJson, callOnce, dayAfter } from '../calls.ts';
import { tell } from '../progress.ts';
import { withConnection } from '../sql.ts';
import { percentile } from '../statistics.ts';
import { p99Within, type Row } from '../table.ts';
import type { StaffStand } from '../staff-stand.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/**
 * Largest number of calls in one measurement. A slow measurement ends earlier. It ends when `MOST_MS` milliseconds have passed and it has
 * made `LEAST_CALLS` calls.
 */
const MOST_CALLS = 100;
const LEAST_CALLS = 20;
const MOST_MS = 1_000;
const LIST_GOAL_MS = 50;
const GOAL_MS = 250;
/** Number of pages of a list that are measured, beginning with the first page. */
const PAGES = 3;
const LIMIT = 50;
const DAY_MS = 86_400_000;

/** Bare queries for the first page of a list, with which the service is compared. */
const FLOORS: Record<string, string> = {
  orders: 'restaurant_order',
  reservations: 'reservation',
  'webhook-deliveries': 'delivery',
  events: 'event',
  audit: 'audit_entry',
};

export const STAFF_LISTS: Operation[] = [{ name: 'staff-lists', measure: measureStaffLists }];

/** Measures every list, filter, calendar and report of the staff API for a tenant with a million orders. */
async function measureStaffLists(world: World): Promise<Row[]> {
  const stand = await world.staffLists();
  const rows: Row[] = [];
  for (const [list, filters] of Object.entries(listsOf(stand))) {
    tell(`measuring ${list}`);
    for (const filter of filters) {
      const path = `/v1/staff/${list}/`;
      const measure = () => measureList(stand, path, joined(filter, `limit=${LIMIT}`));
      rows.push(await measured(shown(stand, `${path}?${filter}`), measure, LIST_GOAL_MS));
    }
    rows.push(...(await floorOf(stand, list)));
  }
  for (const path of singlePaths(stand)) {
    rows.push(await measured(shown(stand, path), () => measurePath(stand, path), GOAL_MS));
  }
  return rows;
}

/** Returns the row of the bare query of a list. The list of oversold nights has none. */
async function floorOf({ databaseUrl, tenantId }: StaffStand, list: string): Promise<Row[]> {
  const table = FLOORS[list];
  if (table === undefined) {
    return [];
  }
  const text = `SELECT * FROM ${table} WHERE tenant_id = $1 ORDER BY id DESC LIMIT ${LIMIT}`;
  return await withConnection(databaseUrl, async (client) => [
    { operation: `floor: bare query of ${list}`, ...(await timesOf(() => client.query(text, [tenantId]))) },
  ]);
}

type Measured = Pick<Row, 'p50Ms' | 'p99Ms' | 'note'>;

/** Returns the row of a measurement. If a call fails, for example at the time limit of a statement, the note of the row has the error. */
async function measured(operation: string, measure: () => Promise<Measured>, goalMs: number): Promise<Row> {
  const figures = await measure().catch((error: unknown): Measured => ({ note: `FAILED: ${String(error)}` }));
  return { operation, ...figures, goal: p99Within(goalMs) };
}

/** Times for the filters of the lists, as texts in ISO 8601. `TIME` and `DAY_LATER` are the start and end of one day. */
const TIME = timeBefore(300);
const DAY_LATER = timeBefore(299);
const EVENT_TIME = timeBefore(10);
const EVENT_DAY_LATER = timeBefore(9);

function timeBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}

/**
 * Returns the queries to measure for each long list. A filter is measured with a value that many rows have, and with a value that
 * few rows have. Some queries combine filters.
 */
function listsOf(stand: StaffStand): Record<string, string[]> {
  return {
    orders: orderFilters(stand),
    reservations: stayFilters(stand),
    'webhook-deliveries': deliveryFilters(stand),
    events: eventFilters(stand),
    audit: auditFilters(stand),
    'nights/oversold': ['', `from=${dayAfter(-800)}`],
  };
}

function orderFilters({ partners: [frequent = '', , rare = ''] }: StaffStand): string[] {
  const filters = [
    '',
    'status=completed',
    'status=cancelled',
    'status=pending',
    'status=ready',
    'open=true',
    `credential_id=${frequent}`,
    `credential_id=${rare}`,
    'order_type=delivery',
    'order_type=pick_up',
    'external_order_id=E-77',
    'phone=351900000077',
    'name=ana',
    'name=abcdef',
    `name=ana&created_from=${TIME}`,
    `created_from=${TIME}`,
    `created_to=${TIME}`,
    `created_from=${TIME}&created_to=${DAY_LATER}`,
    `status=completed&created_from=${TIME}`,
    'status=completed&order_type=delivery',
    'status=completed&order_type=pick_up',
    `status=completed&credential_id=${frequent}`,
    `order_type=delivery&credential_id=${frequent}`,
    `status=cancelled&order_type=take_away&credential_id=${frequent}`,
    `open=true&credential_id=${frequent}`,
  ];
  return [...filters, ...['', 'status=completed', 'open=true'].map((filter) => joined(filter, 'order=oldest'))];
}

function stayFilters({ partners: [frequent = '', , rare = ''], roomTypes, propertyId }: StaffStand): string[] {
  const day = dayAfter(-400);
  const filters = [
    '',
    'status=completed',
    'status=confirmed',
    'status=pending',
    'source=partner',
    'source=ota',
    'source=house',
    `credential_id=${frequent}`,
    `credential_id=${rare}`,
    `property_id=${propertyId}`,
    `room_type_id=${roomTypes[0]}`,
    `room_type_id=${roomTypes.at(-1)}`,
    `arriving_on=${day}`,
    `departing_on=${day}`,
    `staying_on=${day}`,
    `staying_on=${dayAfter(0)}`,
    'changed_since=2020-01-01T00:00:00Z',
    `changed_since=${TIME}`,
    `changed_since=${new Date(Date.now() - DAY_MS).toISOString()}`,
    'natural_id=N77',
    'external_id=O78',
    'email=g77@example.com',
    'phone=351900000077',
    'name=a',
    'name=lucja',
    'status=completed&source=ota',
    `status=completed&room_type_id=${roomTypes[0]}`,
    `source=ota&room_type_id=${roomTypes[0]}`,
    `status=completed&credential_id=${frequent}`,
    'status=completed&name=a',
  ];
  const byArrival = ['', 'status=completed', 'source=ota', `room_type_id=${roomTypes[0]}`];
  return [...filters, ...byArrival.map((filter) => joined(filter, 'order=check_in'))];
}

function deliveryFilters({ partners: [frequent = '', , rare = ''] }: StaffStand): string[] {
  return [
    '',
    'status=delivered',
    'status=failed',
    'status=stopped',
    `credential_id=${frequent}`,
    `credential_id=${rare}`,
    'event=order.status_changed',
    'event=reservation.created',
    'event=reservation.modified',
    'event=reservation.cancelled',
    `event=reservation.created&credential_id=${frequent}`,
    `event=order.status_changed&status=delivered`,
    `event=order.status_changed&status=failed`,
    `status=delivered&credential_id=${frequent}`,
    `status=failed&credential_id=${frequent}`,
    `created_from=${EVENT_TIME}`,
    `created_from=${EVENT_TIME}&created_to=${EVENT_DAY_LATER}`,
    `created_from=${EVENT_TIME}&event=order.status_changed`,
  ];
}

function auditFilters({ partners: [frequent = '', , rare = ''] }: StaffStand): string[] {
  return [
    '',
    'action=rates.written',
    'action=pause.started',
    `actor_id=${frequent}`,
    `actor_id=${rare}`,
    'subject=subject%207',
    `from=${TIME}`,
    `from=${TIME}&to=${DAY_LATER}`,
    `action=rates.written&actor_id=${frequent}`,
  ];
}

const joined = (...filters: string[]) => filters.filter((filter) => filter !== '').join('&');

function eventFilters({ partners: [frequent = '', , rare = ''] }: StaffStand): string[] {
  return [
    '',
    `credential_id=${frequent}`,
    `credential_id=${rare}`,
    'type=order.status_changed',
    'type=reservation.cancelled',
    'type=reservation.modified',
    `type=reservation.created&credential_id=${frequent}`,
  ];
}

/**
 * Returns the paths of other reads:
 * - the short lists
 * - the data of one credential: its details, its refused calls, and its event feed as the partner would read it
 * - the calendar of a property
 * - the stays and the history of one night of a room type
 * - the report of days, which shows the orders and the stays of each day
 */
function singlePaths({ partners: [frequent, , rare], roomTypes, propertyId }: StaffStand): string[] {
  const night = `nights/${roomTypes[0]}/${dayAfter(0)}/`;
  return [
    '/v1/staff/credentials/',
    '/v1/staff/properties/',
    '/v1/staff/people/',
    `/v1/staff/credentials/${frequent}/feed/`,
    `/v1/staff/credentials/${frequent}/`,
    `/v1/staff/credentials/${rare}/`,
    `/v1/staff/credentials/${frequent}/refusals/`,
    `/v1/staff/calendar/?property_id=${propertyId}&from=${dayAfter(-30)}&to=${dayAfter(1)}`,
    `/v1/staff/calendar/?property_id=${propertyId}&from=${dayAfter(-200)}&to=${dayAfter(200)}`,
    `/v1/staff/${night}`,
    `/v1/staff/reports/days/?from=${dayAfter(-60)}&to=${dayAfter(-29)}`,
    `/v1/staff/reports/days/?from=${dayAfter(-60)}&to=${dayAfter(-29)}&format=csv`,
  ];
}

interface ListPart {
  results: unknown[];
  next: string | null;
}

/** Measures the first pages of a list. Returns the figures of the slowest of these pages, and a note with the length of each page. */
async function measureList(stand: StaffStand, path: string, query: string): Promise<Measured> {
  const figures = [];
  const notes: string[] = [];
  let after = '';
  for (let page = 0; page < PAGES; page += 1) {
    const pathOfPage = `${path}?${joined(query, after)}`;
    const { results, next } = await callForJson<ListPart>(stand.url, { path: pathOfPage, headers: stand.owner });
    figures.push(await measurePath(stand, pathOfPage));
    notes.push(String(results.length));
    if (next === null) {
      notes.push('end');
      break;
    }
    after = `after=${next}`;
  }
  const slowest = figures.reduce((a, b) => (b.p99Ms > a.p99Ms ? b : a));
  return { ...slowest, note: `entries of each page: ${notes.join(', ')}` };
}

async function measurePath({ url, owner }: StaffStand, path: string) {
  return await timesOf(() => callOnce(url, { path, headers: owner }));
}

/** Calls the function several times, one call at a time. With so few calls, the 99th percentile is the time of the slowest call. */
async function timesOf(call: () => Promise<unknown>) {
  const durations: number[] = [];
  const startedAt = performance.now();
  const isEnough = () => durations.length >= MOST_CALLS || performance.now() - startedAt >= MOST_MS;
  while (durations.length < LEAST_CALLS || !isEnough()) {
    const calledAt = performance.now();
    await call();
    durations.push(performance.now() - calledAt);
  }
  durations.sort((a, b) => a - b);
  return { p50Ms: percentile(durations, 0.5), p99Ms: percentile(durations, 0.99) };
}

/** Returns the path for the results table. Names such as `FREQUENT` or `RARE` replace the ids. */
function shown({ partners, roomTypes, propertyId }: StaffStand, path: string): string {
  const names = new Map([
    [partners[0], 'FREQUENT'],
    [partners[2], 'RARE'],
    [roomTypes[0], 'FREQUENT'],
    [roomTypes.at(-1), 'RARE'],
    [propertyId, 'PROPERTY'],
  ]);
  return [...names].reduce((text, [id, name]) => text.replace(id ?? '', name), path.replace('/v1/staff/', ''));
}
