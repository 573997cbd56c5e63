import assert from 'node:assert/strict';
import { todayIn } from '#platform/lib/dates.ts';
import { recount } from '#hotel/reservations/reservations.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { makeChannel, tell } from './channel.ts';
import type { Answer, TestService, TestTenant } from './service.ts';
import { sampleHotel } from './tenants.ts';

export const ROOMS = '/v1/third-party/hotels/rooms/';
export const AVAILABILITY = '/v1/third-party/hotels/availability/';
export const RESERVATIONS = '/v1/third-party/hotels/reservations/';
export const STAFF_RESERVATIONS = '/v1/staff/reservations/';

/** A tenant with a hotel, and the ids of its room types and rate plans by name. */
export interface TestHotel extends TestTenant {
  /** `Double` of the first property; of another one `Lagoon Lodge/Double`. */
  roomTypes: Record<string, string>;
  /** `Double/Flexible`. */
  plans: Record<string, string>;
}

/** Makes a tenant with both features and the sample hotel, changed as the caller likes. */
export async function openHotel(service: TestService, changes: Partial<TenantDocument> = {}): Promise<TestHotel> {
  const tenant = await service.tenant({ features: ['restaurant', 'hotel'], properties: sampleHotel(), ...changes });
  return { ...tenant, ...(await readIds(service, tenant.tenantId)) };
}

/** A hotel of one property; its room types are what the caller says. */
export async function openHouse(
  service: TestService,
  roomTypes: NonNullable<NonNullable<TenantDocument['properties']>[number]['room_types']>,
  timezone = 'Europe/Lisbon',
): Promise<TestHotel> {
  const properties = [{ name: 'House', country_code: 'PT', timezone, room_types: roomTypes }];
  return await openHotel(service, { features: ['hotel'], properties });
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

/** The day so many days after the given one. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

/** Taken once, so that midnight may pass while a file runs. */
const START = todayIn('UTC');

/** The day so many days from now; three and more lie ahead in every zone. */
export function dayAhead(days: number): string {
  return dayAfter(START, days);
}

let booked = 0;

/** Books two nights in a Double thirty days ahead, with whatever is changed in it, under an external id of its own. */
export function book(
  service: TestService,
  hotel: Pick<TestHotel, 'partner' | 'roomTypes'>,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  return service.call('POST', RESERVATIONS, { headers: hotel.partner, json: stay(hotel, changes) });
}

/** The body of such a booking. */
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

/** The path of one reservation as its partner asks for it. */
export function reservationPath(externalId: string, action = ''): string {
  return `${RESERVATIONS}${encodeURIComponent(externalId)}/${action}`;
}

/** What partners are shown as sellable, night by night. */
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

/** Moves a reservation along as staff does. */
export function moveStay(service: TestService, hotel: TestTenant, id: string, status: string): Promise<Answer> {
  return service.call('POST', `${STAFF_RESERVATIONS}${id}/status/`, { headers: hotel.staff, json: { status } });
}

/** Opens a channel; what is told through it has, where not said otherwise, two nights in a Double thirty days ahead. */
export async function openChannel(service: TestService, hotel: TestHotel, source = 'an-ota') {
  const channel = await makeChannel(service, hotel, source);
  return async (changes: Record<string, unknown>): Promise<Answer> => {
    const { external_reservation_id, guest, ...rest } = stay(hotel);
    const told = {
      external_id: external_reservation_id,
      status: 'confirmed',
      guest: { full_name: guest.name },
      ...rest,
    };
    return await tell(service, channel, { ...told, ...changes });
  };
}

/** Headers of a new PMS credential's calls. */
export async function pmsHeaders(service: TestService, hotel: TestTenant): Promise<Record<string, string>> {
  const made = await service.call('POST', '/v1/channel-manager/credentials/', { headers: hotel.owner, json: {} });
  assert.equal(made.status, 201, made.text);
  return { 'x-pms-api-key': made.body.api_key, 'x-pms-api-secret': made.body.api_secret };
}

/** Writes rates or restrictions of a plan as a PMS does. */
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

/** Asserts that every counter of the tenant's nights is what its reservations say. */
export async function assertCounted(service: TestService, tenantId: number): Promise<void> {
  const { differences } = await recount(service.database.db, tenantId);
  assert.deepEqual(differences, []);
}

/** The events of a tenant in the order they were written, each as it would be sent. */
export async function eventsOf(service: TestService, tenantId: number) {
  const rows = await service.database.db
    .selectFrom('event')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, sent: JSON.parse(row.body) }));
}
