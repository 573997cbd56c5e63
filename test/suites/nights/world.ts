import { todayIn } from '#platform/lib/dates.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { makeChannel, nowSeconds, sendReservation } from '../../support/channel.ts';
import type { Answer } from '../../support/http.ts';
import {
  AVAILABILITY,
  dayAfter,
  openSmallHotel,
  QUOTE,
  RESERVATIONS,
  reservationPath,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '../../support/hotel.ts';
import type { TestService } from '../../support/service.ts';
import { type Call, daysOf, type Nights } from './model.ts';

const NAMES = ['Double', 'Suite'];
/** Number of rooms of each room type at the beginning. */
export const CAPACITIES = [2, 1];
/** Hours between the time in UTC and noon. In this time zone it is noon now, so the day does not change during a run. */
const HOURS = new Date().getUTCHours() - 12;
const ZONE = `Etc/GMT${HOURS < 0 ? '' : '+'}${HOURS}`;
const TODAY = todayIn(ZONE);
const GUEST = { name: 'Ana Lima', phone: '1' };

const dateOf = (day: number) => dayAfter(TODAY, day);
export const dayOf = (date: string) => (Date.parse(date) - Date.parse(TODAY)) / 86_400_000;

/** A hotel of a run. */
export interface House extends TestHotel {
  /** Sends a reservation as an OTA, a number of seconds after the opening of the hotel. */
  tell: (node: TestService, reservation: Record<string, unknown>, second: number) => Promise<Answer>;
  /** Ids of the room types. The last one belongs to the other hotel. */
  roomTypeIds: string[];
  /** Ids of the stays, by their keys in the model. */
  stayIds: Map<string, string>;
}

/** Opens two equal hotels, in which the stays have equal names. */
export async function openHouses(node: TestService): Promise<[House, House]> {
  const [one, other] = await Promise.all([openHouse(node), openHouse(node)]);
  const [first, second] = [one.roomTypeIds[0] ?? '', other.roomTypeIds[0] ?? ''];
  one.roomTypeIds.push(second);
  other.roomTypeIds.push(first);
  return [one, other];
}

async function openHouse(node: TestService): Promise<House> {
  const roomTypes = NAMES.map((name, index) => ({
    name,
    max_occupancy: 2,
    physical_capacity: CAPACITIES[index] ?? 0,
    rate_plans: [{ name: 'Flexible', base_price: '10.00' }],
  }));
  const hotel = await openSmallHotel(node, roomTypes, ZONE);
  const channel = await makeChannel(node, hotel);
  const openedAt = nowSeconds();
  return {
    ...hotel,
    tell: (to, reservation, second) => sendReservation(to, channel, reservation, openedAt + second),
    roomTypeIds: NAMES.map((name) => hotel.roomTypes[name] ?? ''),
    stayIds: new Map(),
  };
}

/**
 * Sends the call to the node.
 * @param id id of the stay that the call names
 * @param beside the other node
 */
export async function send(house: House, call: Call, { id, node, beside }: Target): Promise<Answer> {
  const { partner, staff, owner } = house;
  switch (call.do) {
    case 'book': {
      const json = { external_reservation_id: call.key, ...fieldsOf(house, call), guest: GUEST };
      return await node.call('POST', RESERVATIONS, { headers: partner, json });
    }
    case 'walk in': {
      const { key, overbook } = call;
      const json = { request_id: requestId(key), ...fieldsOf(house, call), guest: GUEST, overbook };
      return await node.call('POST', STAFF_RESERVATIONS, { headers: staff, json });
    }
    case 'tell': {
      const { key, status, second } = call;
      const guest = { full_name: GUEST.name };
      return await house.tell(node, { external_id: key, status, ...fieldsOf(house, call), guest }, second);
    }
    case 'cancel':
      return await node.call('POST', reservationPath(call.key, 'cancel/'), { headers: partner });
    case 'move': {
      const json = { status: call.status };
      return await node.call('POST', `${STAFF_RESERVATIONS}${id}/status/`, { headers: staff, json });
    }
    case 'change': {
      const json = { ...fieldsOf(house, call), overbook: call.overbook };
      return await node.call('PATCH', `${STAFF_RESERVATIONS}${id}/`, { headers: staff, json });
    }
    case 'close': {
      const rate_plan_id = house.plans[`${NAMES[call.roomType]}/Flexible`];
      const changes = daysOf(call).map((day) => ({ rate_plan_id, date: dateOf(day), is_sold_out: call.isClosed }));
      return await node.call('PATCH', '/v1/staff/rates/', { headers: owner, json: { changes } });
    }
    case 'resize':
      return await resize(house, call, [node, beside]);
    case 'look':
    case 'quote': {
      const query = new URLSearchParams(fieldsOf(house, call) as Record<string, string>);
      return await node.call('GET', `${call.do === 'look' ? AVAILABILITY : QUOTE}?${query}`, { headers: partner });
    }
  }
}

interface Target {
  id: string;
  node: TestService;
  beside: TestService;
}

/** Returns the fields of a body that name the nights. A missing value stays missing. */
function fieldsOf({ roomTypeIds }: House, { roomType, from, to }: Partial<Nights>) {
  return {
    ...(roomType === undefined ? {} : { room_type_id: roomTypeIds[roomType] }),
    ...(from === undefined ? {} : { check_in: dateOf(from) }),
    ...(to === undefined ? {} : { check_out: dateOf(to) }),
  };
}

/** Returns the same `request_id` for the same key. */
function requestId(key: string): string {
  return `00000000-0000-4000-8000-${Buffer.from(key).toString('hex').slice(-12).padStart(12, '0')}`;
}

/**
 * Sets the capacities by calls of the owner, or by the tenant document. Both nodes get the calls, so that both use the new capacities at
 * once. Otherwise the second node could use the old ones until its lease of cached data ends.
 */
async function resize(
  house: House,
  { capacities, by }: Call & { do: 'resize' },
  nodes: TestService[],
): Promise<Answer> {
  if (by === 'document') {
    const { users, menu, ...document } = structuredClone(house.document);
    for (const [index, roomType] of (document.properties?.[0]?.room_types ?? []).entries()) {
      roomType.physical_capacity = capacities[index] ?? 0;
    }
    await applyTenantDocument((nodes[0] as TestService).database.db, document);
  }
  const answers = [];
  for (const node of nodes) {
    for (const [index, physical_capacity] of capacities.entries()) {
      const path = `/v1/staff/room-types/${house.roomTypeIds[index]}/`;
      answers.push(await node.call('PATCH', path, { headers: house.owner, json: { physical_capacity } }));
    }
  }
  return answers.find(({ status }) => status !== 200) ?? (answers[0] as Answer);
}
