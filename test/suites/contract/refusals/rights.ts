import type { Area, Feature } from '#access/tenants/tenants.ts';

/**
 * Right that an operation needs. The rights mean:
 * - `public`: every caller may use the operation.
 * - `partner`, `pms`, `channel` or `owner`: only this kind of caller.
 * - `person`: owners and staff.
 * - `any`: owners, staff and displays. A display is a screen of the tenant, for example in the kitchen.
 * - A list of areas (parts of the staff API): owners, and the staff and displays that have at least one area of the list.
 */
export type Right = 'public' | 'partner' | 'pms' | 'channel' | 'owner' | 'person' | 'any' | Area[];

/**
 * Right that each operation needs, by operation id. It is written by hand, because the documents are generated from the guards: a wrong
 * guard would change them too.
 */
export const RIGHTS: Record<string, Right> = {
  signIn: 'public',
  startSession: 'public',
  endOwnSession: 'public',
  choosePassword: 'public',
  welcomeOwner: 'public',
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
  getToday: 'any',
  makeBusy: 'owner',
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

/** Returns the feature that the tenant needs for the operations of this path, or null. */
export function featureOf(path: string): Feature | null {
  if (/^\/v1\/(third-party\/(menu|orders)|staff\/(menu|dishes|orders|pause|opening-hours))\//.test(path)) {
    return 'restaurant';
  }
  const hotel =
    /^\/v1\/(third-party\/hotels|channel-manager\/receiver|staff\/(properties|calendar|nights|rates|rate-plans|room-types|reservations))\//;
  return hotel.test(path) ? 'hotel' : null;
}

export const AREAS: Area[] = ['orders', 'menu', 'hotel', 'rates', 'deliveries'];

/** A caller as the rights see it. `nobody` proves no identity. */
export interface Role {
  kind: 'nobody' | 'owner' | 'staff' | 'display' | 'partner' | 'pms' | 'channel';
  areas: Area[];
}

/** Returns the status with which an operation refuses the caller, or null if the caller may call it. */
export function refusalOf(right: Right, { kind, areas }: Role): 401 | 403 | null {
  if (right === 'public') {
    return null;
  }
  if (right === 'partner' || right === 'pms' || right === 'channel') {
    return kind === right ? null : 401;
  }
  if (!['owner', 'staff', 'display'].includes(kind)) {
    return 401;
  }
  if (kind === 'owner' || right === 'any') {
    return null;
  }
  if (right === 'person') {
    return kind === 'display' ? 403 : null;
  }
  return right !== 'owner' && right.some((area) => areas.includes(area)) ? null : 403;
}
