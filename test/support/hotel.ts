import assert from 'node:assert/strict';
import { todayIn } from '#platform/lib/dates.ts';
import { recount } from '#hotel/reservations/reservations.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { makeChannel, sendReservation } from './channel.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';
import { sampleHotel } from './tenants.ts';

export const ROOMS = '/v1/third-party/hotels/rooms/';
export const AVAILABILITY = '/v1/third-party/hotels/availability/';
export const QUOTE = '/v1/third-party/hotels/quote/';
export const RESERVATIONS = '/v1/third-party/hotels/reservations/';
export const STAFF_RESERVATIONS = '/v1/staff/reservations/';

/** A tenant with a hotel, and the ids of its room types and rate plans, keyed by name. */
export interface TestHotel extends TestTenant {
  /** By name: `Double` in the first property, and `Lagoon Lodge/Double` in the property Lagoon Lodge. */
  roomTypes: Record<string, string>;
  /** Ids of the rate plans, keyed by the names of room type and rate plan, for example `Double/Flexible`. */
  plans: Record<string, string>;
}

export async function openHotel(service: TestService, changes: Partial<TenantDocument> = {}): Promise<TestHotel> {
  const tenant = await service.tenant({ features: ['restaurant', 'hotel'], properties: sampleHotel(), ...changes });
  return { ...tenant, ...(await readIds(service, tenant.tenantId)) };
}

export async function openSmallHotel(
  service: TestService,
  roomTypes: NonNullable<NonNullable<TenantDocument['properties']>[number]['room_types']>,
  timezone = 'Europe/Lisbon',
): Promise<TestHotel> {
  const properties = [{ name: 'House', country_code: 'PT', timezone, room_types: roomTypes }];
  return await openHotel(service, { features: ['hotel'], properties });
}

/** Makes a tenant whose hotel has only the room type Double, with the given number of rooms. A night costs 10.00. */
export async function openHotelOf(service: TestService, rooms: number, timezone?: string): Promise<TestHotel> {
  const double = { name: 'Double', max_occupancy: 2, base_price: '10.00', physical_capacity: rooms };
  return await openSmallHotel(service, [double], timezone);
}

async function readIds({ database: { db } }: TestService, tenantId: number) {
  const [properties, roomTypes, plans] = await Promise.all([
    db.selectFrom('property').select(['id', 'name', 'position']).where('tenant_id', '=', tenantId).execute(),
    db.selectFrom('room_type').select(['id', 'name', 'property_id']).where('tenant_id', '=', tenantId).execute(),
    db.selectFrom('rate_plan').select(['id', 'name', 'room_type_id']).where('tenant_id', '=', tenantId).execute(),
  ]);
  const nameOf = ({ name, property_id }: { name: string; property_id: string }) => {
    const property = properties.find(({ id }) => id === property_id);
    return property?.position === 0 ? name : `${property?.name}/${name}`;
  };
  const names = new Map(roomTypes.map((roomType) => [roomType.id, nameOf(roomType)]));
  return {
    roomTypes: Object.fromEntries([...names].map(([id, name]) => [name, id])),
    plans: Object.fromEntries(plans.map(({ id, name, room_type_id }) => [`${names.get(room_type_id)}/${name}`, id])),
  };
}

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

/** Current date. It is read only once, so that the dates stay the same if a test file runs past midnight. */
const START = todayIn('UTC');

/** Returns the day so many days after `START`. From three days on, it is in the future in every time zone. */
export function dayAhead(days: number): string {
  return dayAfter(START, days);
}

/** Runs the work with today's date in the time zone. If the date changes during the work, runs the work again with the new date. */
export async function onOneDay<T>(timezone: string, work: (today: string) => Promise<T>): Promise<T> {
  const today = todayIn(timezone);
  const result = await work(today);
  return todayIn(timezone) === today ? result : await work(todayIn(timezone));
}

let booked = 0;

export function book(
  service: TestService,
  hotel: Pick<TestHotel, 'partner' | 'roomTypes'>,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  return service.call('POST', RESERVATIONS, { headers: hotel.partner, json: stay(hotel, changes) });
}

/** Returns the body of a booking: two nights in the room type Double, thirty days from today, under a new external id. */
export function stay(hotel: Pick<TestHotel, 'roomTypes'>, changes: Record<string, unknown> = {}) {
  booked += 1;
  return {
    external_reservation_id: `stay ${booked}`,
    room_type_id: hotel.roomTypes['Double'],
    check_in: dayAhead(30),
    check_out: dayAhead(32),
    guest: { name: 'Ana Lima', phone: '+351 912 000 000' },
    ...changes,
  };
}

export function reservationPath(externalId: string, action = ''): string {
  return `${RESERVATIONS}${encodeURIComponent(externalId)}/${action}`;
}

/** Reads the number of rooms that partners can still book, for each night of the range. */
export async function sellable(
  service: TestService,
  hotel: Pick<TestHotel, 'partner'>,
  roomTypeId: string | undefined,
  checkIn: string,
  checkOut: string,
): Promise<number[]> {
  const query = `room_type_id=${roomTypeId}&check_in=${checkIn}&check_out=${checkOut}`;
  const answer = await service.call('GET', `${AVAILABILITY}?${query}`, { headers: hotel.partner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.days.map((day: { sellable: number }) => day.sellable);
}

export function setStayStatus(
  service: TestService,
  hotel: TestTenant,
  id: string,
  status: string,
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const json = { status, ...more };
  return service.call('POST', `${STAFF_RESERVATIONS}${id}/status/`, { headers: hotel.staff, json });
}

/** Books such a stay as a member of staff. */
export function bookForHouse(
  service: TestService,
  hotel: Pick<TestHotel, 'staff' | 'roomTypes'>,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  const json = {
    request_id: crypto.randomUUID(),
    room_type_id: hotel.roomTypes['Double'],
    check_in: dayAhead(30),
    check_out: dayAhead(32),
    guest: { name: 'Rui Melo' },
    ...changes,
  };
  return service.call('POST', STAFF_RESERVATIONS, { headers: hotel.staff, json });
}

/** Makes a channel. @returns a function that sends such a stay through it, with changed fields */
export async function openChannel(service: TestService, hotel: TestHotel, source = 'an-ota') {
  const channel = await makeChannel(service, hotel, source);
  return async (changes: Record<string, unknown>): Promise<Answer> => {
    const { external_reservation_id, guest, ...rest } = stay(hotel);
    const reservation = {
      external_id: external_reservation_id,
      status: 'confirmed',
      guest: { full_name: guest.name },
      ...rest,
    };
    return await sendReservation(service, channel, { ...reservation, ...changes });
  };
}

export async function pmsHeaders(service: TestService, hotel: TestTenant): Promise<Record<string, string>> {
  const made = await service.call('POST', '/v1/channel-manager/credentials/', { headers: hotel.owner, json: {} });
  assert.equal(made.status, 201, made.text);
  return { 'x-pms-api-key': made.body.api_key, 'x-pms-api-secret': made.body.api_secret };
}

export async function writePlan(
  service: TestService,
  pms: Record<string, string>,
  what: 'rates' | 'restrictions',
  planId: string | undefined,
  entries: Record<string, unknown>[],
): Promise<void> {
  const json = { rate_plan_id: planId, [what]: entries };
  const answer = await service.call('PUT', `/v1/channel-manager/pms/${what}/`, { headers: pms, json });
  assert.equal(answer.status, 200, answer.text);
}

/** Counts the reservations again, and compares the night counters. */
export async function assertNightCounters(service: TestService, tenantId: number): Promise<void> {
  const { differences } = await recount(service.database.db, tenantId);
  assert.deepEqual(differences, []);
}

/** Reads the events of a tenant, oldest first. `sent` is the body that a delivery sends. */
export async function eventsOf(service: TestService, tenantId: number) {
  const rows = await service.database.db
    .selectFrom('event')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, sent: JSON.parse(row.body) }));
}
