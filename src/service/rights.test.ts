import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Area } from '#access/tenants/tenants.ts';
import { makeChannel } from '#test/support/channel.ts';
import { book, openHotel, pmsHeaders } from '#test/support/hotel.ts';
import { invite } from '#test/support/people.ts';
import { causeEvent, listDeliveries, placeOrder, register } from '#test/support/webhooks.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openDisplay, openSession, personId, SESSION } from '#test/support/sessions.ts';
import { readRoutes } from '../../tools/openapi/openapi.ts';

const AREAS: Area[] = ['orders', 'menu', 'hotel', 'rates', 'deliveries'];

/** Kinds of callers that the tests create. An owner or a member of staff sends a token, or a cookie if the kind says "with a cookie". */
type Caller =
  | 'no credentials'
  | 'owner'
  | 'owner with a cookie'
  | `staff of ${Area}`
  | `staff of ${Area} with a cookie`
  | 'staff without areas'
  | `display of ${Area}`
  | "another tenant's owner"
  | 'partner'
  | 'PMS'
  | 'ended session';

/**
 * Right that each operation needs, by operation id. An operation that is missing here fails the test. The rights mean:
 * - `public`: every caller may use the operation.
 * - `partner`, `pms`, `channel` or `owner`: only this kind of caller.
 * - `person`: owners and staff.
 * - `any`: owners, staff and displays. A display is a screen of the tenant, for example in the kitchen.
 * - A list of areas (parts of the staff API): owners, and the staff and displays that have at least one area of the list.
 */
const RIGHTS: Record<string, 'public' | 'partner' | 'pms' | 'channel' | 'owner' | 'person' | 'any' | Area[]> = {
  signIn: 'public',
  startSession: 'public',
  endOwnSession: 'public',
  choosePassword: 'public',
  pairDisplay: 'public',
  getMe: 'any',
  changeMe: 'person',
  changePassword: 'person',
  listSessions: 'any',
  endSession: 'any',
  listPeople: 'owner',
  invitePerson: 'owner',
  changePerson: 'owner',
  resetPerson: 'owner',
  listDisplays: 'owner',
  createDisplay: 'owner',
  removeDisplay: 'owner',
  watchChanges: 'any',
  listAudit: 'owner',
  reportDays: 'owner',
  listStaffCredentials: 'owner',
  getStaffCredential: 'owner',
  changeStaffCredential: 'owner',
  rotateStaffCredential: 'owner',
  setCredentialWebhook: 'owner',
  removeCredentialWebhook: 'owner',
  getMenuDocument: ['menu'],
  replaceMenu: ['menu'],
  changeDish: ['menu'],
  changeAvailability: ['menu'],
  listStaffOrders: ['orders'],
  getStaffOrder: ['orders'],
  changeOrderStatus: ['orders'],
  getPause: 'any',
  startPause: ['orders'],
  endPause: ['orders'],
  getOpeningHours: 'any',
  replaceOpeningHours: 'owner',
  listProperties: ['hotel', 'rates'],
  listStaffReservations: ['hotel'],
  getStaffReservation: ['hotel'],
  changeReservationStatus: ['hotel'],
  bookStay: ['hotel'],
  changeStay: ['hotel'],
  setArrival: ['hotel'],
  getNight: ['hotel'],
  getCalendar: ['hotel'],
  listOversoldNights: ['hotel'],
  changeRates: ['rates'],
  changeRatePlan: ['rates'],
  changeRoomType: 'owner',
  listWebhookDeliveries: ['deliveries'],
  sendTestCall: ['deliveries'],
  listRefusedCalls: ['deliveries'],
  getWebhookDelivery: ['deliveries'],
  listStaffEvents: ['deliveries'],
  getPartnerFeed: ['deliveries'],
  listCredentials: 'owner',
  createCredential: 'owner',
  revokeCredential: 'owner',
  rotateCredential: 'owner',
  listPmsCredentials: 'owner',
  createPmsCredential: 'owner',
  revokePmsCredential: 'owner',
  rotatePmsCredential: 'owner',
  listChannels: 'owner',
  createChannel: 'owner',
  revokeChannel: 'owner',
  rotateChannel: 'owner',
  receiveReservation: 'channel',
  getMenu: 'partner',
  createOrder: 'partner',
  quoteOrder: 'partner',
  getOrder: 'partner',
  listOrders: 'partner',
  cancelOrder: 'partner',
  listRoomTypes: 'partner',
  getAvailability: 'partner',
  quoteReservation: 'partner',
  createReservation: 'partner',
  getReservation: 'partner',
  listReservations: 'partner',
  cancelReservation: 'partner',
  registerWebhook: 'partner',
  listEvents: 'partner',
  pmsGetInventory: 'pms',
  pmsListProperties: 'pms',
  pmsListRoomTypes: 'pms',
  pmsGetRates: 'pms',
  pmsPutRates: 'pms',
  pmsListReservations: 'pms',
  pmsGetReservation: 'pms',
  pmsPutRestrictions: 'pms',
};

interface Route {
  id: string;
  method: string;
  /** Path of the route, with the ids of objects of the tenant in place of the parameters. */
  path: string;
  /** True if the path contains the id of an object of the tenant. */
  namesObject: boolean;
}

const callers = new Map<Caller, Record<string, string>>();
const { service, hotel } = await useHotel();
const ids = await makeObjects();
const routes = (await readRoutes())
  .filter(({ method, schema }) => method !== 'HEAD' && schema?.operationId !== undefined)
  .map(({ method, url, schema }) => {
    const path = url.replaceAll(/:(\w+)/g, (_, name: string) => ids(url, name));
    return { id: schema?.operationId ?? '', method: String(method), path, namesObject: path !== url };
  });
await makeCallers();

/**
 * Makes an object for each parameter in the paths of the routes.
 * @returns a function that takes the path of a route and the name of a parameter in this path. It returns the id of the object for this
 * parameter, encoded for a URL.
 */
async function makeObjects(): Promise<(url: string, name: string) => string> {
  const { orderId } = await placeOrder(service, hotel.partner);
  const { body: stay } = await book(service, hotel, { external_reservation_id: 'a stay' });
  const pms = await service.call('POST', '/v1/channel-manager/credentials/', { headers: hotel.owner });
  const channel = await makeChannel(service, hotel, 'an OTA');
  const session = await openSession(service, hotel.tenantId, 'staff');
  const person = await invite(service, hotel);
  const display = await openDisplay(service, hotel.tenantId, []);
  const properties = await service.call('GET', '/v1/staff/properties/', { headers: hotel.owner });
  const named: Record<string, string> = {
    order_id: orderId,
    external_order_id: 'unknown',
    external_reservation_id: 'a stay',
    property_id: properties.body[0].id,
    booking_id: stay.reservation_id,
    sku: 'PIZZA-1',
    room_type_id: stay.room_type_id,
    date: stay.check_in,
  };
  const byFolder: Record<string, string> = {
    reservations: stay.reservation_id,
    'third-party/credentials': hotel.credential.id,
    'staff/credentials': hotel.credential.id,
    'webhook-deliveries': await makeDelivery(),
    'channel-manager/credentials': pms.body.id,
    channels: channel.id,
    sessions: session.id,
    'rate-plans': hotel.plans['Double/Flexible'] ?? '',
    'room-types': hotel.roomTypes['Double'] ?? '',
    people: person.body.person.id,
    displays: display.displayId,
  };
  return (url, name) => {
    const id = named[name] ?? Object.entries(byFolder).find(([folder]) => url.includes(`/${folder}/:`))?.[1];
    assert.ok(id, `makeObjects has an object for the parameter "${name}" of ${url}`);
    return encodeURIComponent(id);
  };
}

/**
 * Registers a webhook for the partner's credential, and causes an event for it. So the event gets a delivery.
 * @returns the id of the delivery
 */
async function makeDelivery(): Promise<string> {
  await register(service, hotel.partner, 'https://127.0.0.1:9/hook');
  await causeEvent(service, hotel);
  const [delivery] = await listDeliveries(service, hotel);
  return delivery?.id ?? assert.fail();
}

async function makeCallers(): Promise<void> {
  const { tenantId } = hotel;
  const ended = await openSession(service, tenantId, 'owner');
  await service.call('DELETE', SESSION, { headers: ended.headers });
  callers.set('no credentials', {}).set('owner', hotel.owner).set('partner', hotel.partner);
  callers.set('owner with a cookie', (await openSession(service, tenantId, 'owner')).headers);
  callers.set('PMS', await pmsHeaders(service, hotel));
  callers.set("another tenant's owner", (await openHotel(service)).owner);
  callers.set('ended session', ended.headers);
}

/**
 * Returns the headers of a caller. All callers of the kind `staff` share one user, so this function first sets the areas of the caller in
 * the row of this user.
 */
async function headersOf(caller: Caller): Promise<Record<string, string>> {
  const area = /of (\w+)/.exec(caller)?.[1] as Area | undefined;
  if (caller.startsWith('display')) {
    return (await openDisplay(service, hotel.tenantId, area === undefined ? [] : [area])).headers;
  }
  if (caller.startsWith('staff')) {
    const id = await personId(service, hotel.tenantId, 'staff');
    const areas = area === undefined ? [] : [area];
    await service.database.db.updateTable('app_user').set({ areas }).where('id', '=', id).execute();
    return caller.endsWith('cookie') ? (await openSession(service, hotel.tenantId, 'staff')).headers : hotel.staff;
  }
  return callers.get(caller) ?? {};
}

/** Returns the status with which the operation refuses the caller, or null if the caller may call the operation. */
function refusalOf(id: string, caller: Caller): 401 | 403 | null {
  const right = RIGHTS[id];
  if (right === 'public') {
    return null;
  }
  if (right === 'partner' || right === 'pms' || right === 'channel') {
    return caller === { partner: 'partner', pms: 'PMS', channel: null }[right] ? null : 401;
  }
  if (['no credentials', 'partner', 'PMS', 'ended session'].includes(caller)) {
    return 401;
  }
  if (caller.includes('owner') || right === 'any') {
    return null;
  }
  if (right === 'person') {
    return caller.startsWith('display') ? 403 : null;
  }
  const area = /of (\w+)/.exec(caller)?.[1] as Area;
  return right !== 'owner' && right?.includes(area) ? null : 403;
}

describe('the rights of each operation', () => {
  it('every route has an entry in the table of rights, and every entry has a route', () => {
    assert.deepEqual(routes.map(({ id }) => id).sort(), Object.keys(RIGHTS).sort());
  });

  const everyone: Caller[] = [
    'no credentials',
    'ended session',
    'partner',
    'PMS',
    'staff without areas',
    ...AREAS.flatMap((area) => [
      `staff of ${area}` as const,
      `staff of ${area} with a cookie` as const,
      `display of ${area}` as const,
    ]),
  ];
  for (const caller of everyone) {
    it(`401, 403: for the caller "${caller}", exactly the operations to which it has no right are refused`, async () => {
      await assertRights(caller);
    });
  }

  it('404: the owner of another tenant finds no object of the tenant, and gets no list with such an object', async () => {
    const known = [hotel.credential.id, hotel.document.slug, await personId(service, hotel.tenantId, 'staff')];
    const headers = await headersOf("another tenant's owner");
    // Many paths name an object of the tenant `hotel`. An operation on this object must respond 404 to the owner of another tenant. The
    // operations in `bodies` look for the object only if the body is valid, so the test sends a valid body to get 404 and not 400.
    // `changeDish` need not respond 404, because its path has only the SKU of a dish, and both tenants have a dish with this SKU.
    const bodies: Record<string, object> = {
      changeOrderStatus: { status: 'cancelled' },
      changeReservationStatus: { status: 'cancelled' },
      setArrival: { arrived: true },
      changeRatePlan: { min_nights: 2 },
      changeRoomType: { physical_capacity: 2 },
      changeStaffCredential: { label: 'x' },
      rotateStaffCredential: { overlap_minutes: 1 },
      setCredentialWebhook: { webhook_url: 'https://partner.example/hook' },
    };
    for (const { id, method, path, namesObject } of routes.filter((route) => isForPeople(route.id))) {
      const { status, text } = await service.call(method, path, { headers, json: bodies[id] });
      const expected = namesObject && id !== 'changeDish' ? [404] : [200, 201, 204, 400, 404];
      assert.ok(expected.includes(status), `${id}: ${status} ${text}`);
      assert.ok(!known.some((value) => text.includes(value)), `${id}: ${text}`);
    }
  });

  for (const caller of ['owner', 'owner with a cookie'] as const) {
    it(`401: for the caller "${caller}", only the operations of partners, PMS and channels are refused`, async () => {
      await assertRights(caller);
    });
  }
});

/** Returns true for an operation that a person calls with a token or a cookie. */
function isForPeople(id: string): boolean {
  const right = RIGHTS[id];
  return right === 'any' || right === 'person' || right === 'owner' || Array.isArray(right);
}

/**
 * Calls every operation as the caller, without a query and without a body. If the caller lacks the right, asserts that the operation
 * responds with the expected 401 or 403. If the caller has the right, accepts every status below 500 except 401 and 403. For example, the
 * status may be 400, because the body is missing.
 */
async function assertRights(caller: Caller): Promise<void> {
  const headers = await headersOf(caller);
  // This operation comes last, because it ends the session of the caller.
  const isSignOut = ({ id }: Route) => id === 'endOwnSession';
  for (const { id, method, path } of routes.toSorted((a, b) => Number(isSignOut(a)) - Number(isSignOut(b)))) {
    const { status, body, text } = await service.call(method, path, { headers });
    const refusal = refusalOf(id, caller);
    const isRight = refusal === null ? ![401, 403].includes(status) && status < 500 : status === refusal;
    assert.ok(isRight, `${caller} calls ${id}: ${status} ${text}, and the table says ${refusal ?? 'allowed'}`);
    const right = RIGHTS[id];
    // If the right is a list of areas (parts of the staff API), the caller needs one area of the list. So the message of the 403 response
    // must name all areas of the list.
    if (status === 403 && Array.isArray(right)) {
      assert.ok(
        right.every((area) => body.message.includes(`"${area}"`)),
        body.message,
      );
    }
  }
}
