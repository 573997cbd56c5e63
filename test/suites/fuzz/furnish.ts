import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ORDERS, STAFF_ORDERS } from '../../support/restaurant.ts';
import { RESERVATIONS, ROOMS, STAFF_RESERVATIONS, dayAhead } from '../../support/hotel.ts';
import { CHANNELS, RECEIVER, channelHeaders, type TestChannel } from '../../support/channel.ts';
import { newEmail, PEOPLE } from '../../support/people.ts';
import type { Answer, CallOptions } from '../../support/http.ts';
import { CONSOLE, consoleHeaders, SESSION, tokenOf } from '../../support/sessions.ts';
import { PASSWORD } from './house.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const DISPLAYS = '/v1/staff/displays/';
const PMS_CREDENTIALS = '/v1/channel-manager/credentials/';
const PMS = '/v1/channel-manager/pms/';

const STOCK = 8;
const ORDER_STATUSES = ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled'];
const STAY_STATUSES = ['completed', 'no_show', 'cancelled'];
/** External ids with characters that have a special meaning in a URL path, and external ids of the maximum length. */
const EXTERNAL_IDS = ['plain', 'a/b c%2F?&#', '..', '漢字', '𝄞'.repeat(150), 'x'.repeat(150), 'e\u0301', '%00'];

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Headers with which each caller of one tenant authenticates. */
export interface Callers {
  owner: Record<string, string>;
  /** Headers of the owner with a session cookie in place of a token. */
  console: Record<string, string>;
  staff: Record<string, string>;
  partner: Record<string, string>;
  pms: Record<string, string>;
  channel: TestChannel;
  revoked: Record<string, string>;
  /**
   * Ids of the users, the credentials and the channel with which the fuzzer authenticates. The cases never contain these ids, because a
   * case could otherwise revoke or remove them. The credential in the field `revoked` is already revoked. Its id is not in this list,
   * because a case may revoke this credential again.
   */
  ownIds: string[];
}

/**
 * Signs in the owner and a member of staff of a tenant. Creates a credential for a partner and one for a PMS, a revoked credential, and a
 * channel. This also works for a tenant without the restaurant and hotel features.
 */
export async function openCallers(call: Call, slug: string): Promise<Callers> {
  const [owner, staff] = await Promise.all([
    signIn(call, `owner@${slug}.example`),
    signIn(call, `staff0@${slug}.example`),
  ]);
  const fromConsole = await startSession(call, `owner@${slug}.example`);
  const create = (path: string, json: object) => made(call, path, { headers: owner, json }, 201);
  const partner = await create(CREDENTIALS, { label: 'its own' });
  const pms = await create(PMS_CREDENTIALS, { label: 'its own' });
  const channel = await create(CHANNELS, { source: 'its own' });
  const revoked = await create(CREDENTIALS, { label: 'revoked' });
  await made(call, `${CREDENTIALS}${revoked.id}/revoke/`, { headers: owner }, 200);
  const people: { id: string }[] = (await call('GET', PEOPLE, { headers: owner })).body;
  return {
    owner,
    console: fromConsole,
    staff,
    partner: { 'x-api-key': partner.api_key, 'x-api-secret': partner.api_secret },
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
    channel,
    revoked: { 'x-api-key': revoked.api_key, 'x-api-secret': revoked.api_secret },
    ownIds: [partner.id, pms.id, channel.id, ...people.map(({ id }) => id)],
  };
}

/**
 * Creates orders and stays in many statuses, a webhook, and additional credentials.
 * @param mark a text that every free-text field contains
 */
export async function furnish(call: Call, callers: Callers, mark: string): Promise<void> {
  const { staff, partner, pms, channel } = callers;
  const webhook = { webhook_url: `https://127.0.0.1:9/${mark}` };
  await made(call, '/v1/third-party/webhook/', { headers: partner, json: webhook }, 200);
  const roomTypeId = await findBunk(call, partner);
  for (const [index, externalId] of EXTERNAL_IDS.entries()) {
    await placeOrder(call, callers, { externalId, mark, status: ORDER_STATUSES[index] });
    await bookStay(call, callers, { externalId, mark, roomTypeId, status: STAY_STATUSES[index] });
  }
  const stay = { external_id: 'ota', status: 'confirmed', room_type_id: roomTypeId, guest: { full_name: mark } };
  const body = JSON.stringify({ ...stay, check_in: dayAhead(5), check_out: dayAhead(7) });
  await made(call, RECEIVER, { headers: channelHeaders(channel, body), body }, 201);
  for (const property of await seen(call, `${PMS}properties/`, pms)) {
    await seen(call, `${PMS}properties/${property.id}/room-types/`, pms);
  }
  await Promise.all([
    seen(call, '/v1/third-party/menu/', partner),
    seen(call, '/v1/staff/reservations/', staff),
    seen(call, '/v1/staff/webhook-deliveries/', staff),
    restock(call, callers, mark),
  ]);
}

/** Function that creates one object through the API, for example an order. A new stay has the room type `roomTypeId`. */
type Make = (call: Call, callers: Callers, wanted: { mark: string; roomTypeId: string }) => Promise<unknown>;

/** Functions that create the objects whose ids occur in URL paths, keyed by the path segment before the id. */
const MAKERS: Record<string, Make[]> = {
  credentials: [
    (call, { owner }, { mark }) => made(call, CREDENTIALS, { headers: owner, json: { label: mark } }, 201),
    (call, { owner }, { mark }) => makePartner(call, owner, mark),
    (call, { owner }, { mark }) => made(call, PMS_CREDENTIALS, { headers: owner, json: { label: mark } }, 201),
  ],
  channels: [(call, { owner }, { mark }) => made(call, CHANNELS, { headers: owner, json: { source: mark } }, 201)],
  people: [
    (call, { owner }, { mark }) =>
      made(call, PEOPLE, { headers: owner, json: { email: newEmail(), name: mark, role: 'staff' } }, 201),
  ],
  displays: [
    (call, { owner }, { mark }) => made(call, DISPLAYS, { headers: owner, json: { label: mark, areas: [] } }, 201),
  ],
  orders: [(call, callers, { mark }) => placeOrder(call, callers, { externalId: randomUUID(), mark })],
  reservations: [
    (call, callers, wanted) => bookStay(call, callers, { externalId: randomUUID(), ...wanted }),
    (call, callers, wanted) => bookForHouse(call, callers, wanted),
  ],
};

/**
 * Creates new credentials, people, displays, orders and stays, because earlier cases may have revoked, disabled, removed, cancelled or
 * completed all existing ones.
 * @param path path template of an operation. The function creates only the kinds of objects whose id is a parameter of this path. If the
 * path is missing, the function creates objects of every kind
 */
export async function restock(call: Call, callers: Callers, mark: string, path?: string): Promise<void> {
  const { owner, partner } = callers;
  const isNeeded = (step: string) => path === undefined || path.includes(`/${step}/{`);
  const makers = Object.keys(MAKERS).flatMap((step) => (isNeeded(step) ? (MAKERS[step] ?? []) : []));
  if (makers.length === 0) {
    return;
  }
  await openRestaurant(call, owner);
  const roomTypeId = await findBunk(call, partner);
  await Promise.all(
    Array.from({ length: STOCK }, () => makers).flatMap((each) =>
      each.map((make) => make(call, callers, { mark, roomTypeId })),
    ),
  );
  await seen(call, PEOPLE, owner);
}

/**
 * Creates a credential with a webhook, because the operation that sends a test call to a webhook needs such a credential. No process
 * listens on the port of the webhook URL.
 */
async function makePartner(call: Call, owner: Record<string, string>, mark: string): Promise<void> {
  const { api_key, api_secret } = await made(call, CREDENTIALS, { headers: owner, json: { label: mark } }, 201);
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret };
  await made(call, '/v1/third-party/webhook/', { headers, json: { webhook_url: `https://127.0.0.1:9/${mark}` } }, 200);
}

/**
 * Opens the restaurant, because earlier cases may have closed it, and a closed restaurant refuses orders. Ends its pause and removes its
 * opening hours. A restaurant without opening hours is always open.
 */
async function openRestaurant(call: Call, headers: Record<string, string>): Promise<void> {
  const answers = [
    await call('DELETE', '/v1/staff/pause/', { headers }),
    await call('PUT', '/v1/staff/opening-hours/', { headers, json: { hours: [] } }),
  ];
  for (const { status, text } of answers) {
    assert.equal(status, 200, text);
  }
}

/**
 * Returns the id of the room type Bunk, which has no rate plans. A call can stop the sale of a room type only through a rate plan, so the
 * fuzzer can always book this room type.
 */
async function findBunk(call: Call, partner: Record<string, string>): Promise<string> {
  const roomTypes: { room_type_id: string; name: string }[] = await seen(call, ROOMS, partner);
  return roomTypes.find(({ name }) => name.endsWith('Bunk'))?.room_type_id ?? '';
}

async function signIn(call: Call, email: string): Promise<Record<string, string>> {
  const { access_token: token } = await made(call, '/v1/auth/token/', { json: { email, password: PASSWORD } }, 200);
  return { authorization: `Bearer ${token}` };
}

async function startSession(call: Call, email: string): Promise<Record<string, string>> {
  const answer = await call('POST', SESSION, { headers: CONSOLE, json: { email, password: PASSWORD } });
  return consoleHeaders(tokenOf(answer));
}

interface Wanted {
  externalId: string;
  mark: string;
  status?: string | undefined;
}

async function placeOrder(call: Call, { partner, staff }: Callers, { externalId, mark, status }: Wanted) {
  const items = [{ item_id: 'PIZZA-1', quantity: 1 }];
  const json = { external_order_id: externalId, items, customer: { name: mark }, notes: mark };
  const order = await made(call, ORDERS, { headers: partner, json }, 201);
  if (status !== undefined) {
    await made(call, `${STAFF_ORDERS}${order.order_id}/status/`, { headers: staff, json: { status } }, 200);
  }
}

async function bookStay(call: Call, { partner, staff }: Callers, wanted: Wanted & { roomTypeId: string }) {
  const { externalId, mark, roomTypeId, status } = wanted;
  const json = {
    external_reservation_id: externalId,
    room_type_id: roomTypeId,
    check_in: dayAhead(5),
    check_out: dayAhead(8),
    guest: { name: mark, phone: '+351 912' },
  };
  const stay = await made(call, RESERVATIONS, { headers: partner, json }, 201);
  if (status !== undefined) {
    await made(call, `${STAFF_RESERVATIONS}${stay.reservation_id}/status/`, { headers: staff, json: { status } }, 200);
  }
}

/**
 * Books a stay through the staff API, and not with the credential of a partner. Some cases change the details of a stay, and the service
 * lets staff change only stays that the hotel itself booked. The stay is on other nights than the partner's stays, so it takes no rooms
 * from these stays.
 */
async function bookForHouse(
  call: Call,
  { staff }: Callers,
  { mark, roomTypeId }: { mark: string; roomTypeId: string },
) {
  const stay = { room_type_id: roomTypeId, check_in: dayAhead(300), check_out: dayAhead(303), overbook: true };
  const json = { ...stay, request_id: randomUUID(), guest: { name: mark } };
  await made(call, STAFF_RESERVATIONS, { headers: staff, json }, 201);
}

async function made(call: Call, path: string, options: CallOptions, status: number): Promise<Answer['body']> {
  const answer = await call('POST', path, options);
  assert.equal(answer.status, status, `${path}: ${answer.text}`);
  return answer.body;
}

async function seen(call: Call, path: string, headers: Record<string, string>): Promise<Answer['body']> {
  const answer = await call('GET', path, { headers });
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
}
