/** Registers the operations of all APIs, and gives each its guard. */
import { channelRoutes, receiverRoutes } from '#hotel/channels/routes.ts';
import { credentialRoutes } from '#access/credentials/routes.ts';
import { trafficRoutes } from '#developer/sandbox/routes.ts';
import { docsRoutes } from '#developer/docs/routes.ts';
import type { App } from '#platform/http/app.ts';
import { healthRoutes } from '#platform/http/health.ts';
import { menuRoutes } from '#restaurant/menu/routes.ts';
import { menuStaffRoutes } from '#restaurant/menu/staff-routes.ts';
import { openingStaffRoutes } from '#restaurant/opening/staff-routes.ts';
import { orderRoutes } from '#restaurant/orders/routes.ts';
import { orderStaffRoutes } from '#restaurant/orders/staff-routes.ts';
import { pmsRoutes } from '#hotel/pms/routes.ts';
import { calendarStaffRoutes, propertyStaffRoutes } from '#hotel/front-desk/staff-routes.ts';
import { nightStaffRoutes } from '#hotel/nights/staff-routes.ts';
import { rateStaffRoutes } from '#hotel/rates/staff-routes.ts';
import { reservationRoutes } from '#hotel/reservations/routes.ts';
import { reservationStaffRoutes } from '#hotel/reservations/staff-routes.ts';
import { roomRoutes } from '#hotel/rooms/routes.ts';
import { roomTypeStaffRoutes } from '#hotel/rooms/staff-routes.ts';
import { linkRoutes, peopleStaffRoutes } from '#access/people/routes.ts';
import { Links, People } from '#access/people/people.ts';
import { refusalStaffRoutes } from '#access/refusals/staff-routes.ts';
import { displayRoutes, displayStaffRoutes } from '#access/sessions/display-routes.ts';
import { Displays } from '#access/sessions/displays.ts';
import { sessionRoutes, sessionStaffRoutes } from '#access/sessions/routes.ts';
import { authRoutes } from '#access/tenants/routes.ts';
import { SignInAttempts } from '#access/tenants/tenants.ts';
import { eventRoutes } from '#webhooks/events/routes.ts';
import { webhookRoutes } from '#webhooks/deliveries/routes.ts';
import { consoleRoutes } from '#staff/console/routes.ts';
import { liveChangeRoutes } from '#staff/live-changes/routes.ts';
import { partnerRoutes } from '#staff/partners/routes.ts';
import { reportRoutes } from '#staff/reports/routes.ts';
import { todayRoutes } from '#staff/today/routes.ts';
import { auditStaffRoutes } from '#staff/trail/routes.ts';
import type { Parts } from './parts.ts';

export function registerRoutes(app: App, parts: Parts): void {
  const { config, db, isServing, contact, guards, changes, channels, readListedMenu, orders } = parts;
  const { reservations, findRoomType, readHeldNights } = parts;
  const { webhookAllowPrivateNetwork: allowPrivateNetwork, webhookHeaderBrand: headerBrand } = config;

  healthRoutes(app, { isServing, isReady: () => contact.isReady() });
  docsRoutes(app);
  consoleRoutes(app);
  accessRoutes(app, parts);
  peopleRoutes(app, parts);
  ownerRoutes(app, parts);
  const ofWebhooks = { callerGuard: guards.anyCaller, staffGuard: guards.deliveryStaff, headerBrand };
  webhookRoutes(app, { ...parts, ...ofWebhooks, allowPrivateNetwork });
  eventRoutes(app, { db, ...ofWebhooks });
  menuRoutes(app, { readListedMenu, callerGuard: guards.restaurantCaller });
  orderRoutes(app, { db, orders, callerGuard: guards.restaurantCaller });
  roomRoutes(app, { db, callerGuard: guards.hotelCaller });
  reservationRoutes(app, { db, reservations, callerGuard: guards.hotelCaller });
  pmsRoutes(app, { db, findRoomType, readHeldNights, pmsGuard: guards.pms });
  receiverRoutes(app, { db, channels, reservations, headerBrand });
  menuStaffRoutes(app, { db, changes, staffGuard: guards.menuStaff });
  orderStaffRoutes(app, { ...parts, staffGuard: guards.orderStaff });
  openingStaffRoutes(app, {
    db,
    changes,
    staffGuard: guards.anyRestaurantStaff,
    ordersGuard: guards.orderStaff,
    ownerGuard: guards.restaurantOwner,
  });
  propertyStaffRoutes(app, { db, staffGuard: guards.hotelOrRateStaff });
  calendarStaffRoutes(app, { db, staffGuard: guards.hotelStaff });
  nightStaffRoutes(app, { db, staffGuard: guards.hotelStaff });
  rateStaffRoutes(app, { db, rateGuard: guards.rateStaff });
  roomTypeStaffRoutes(app, { db, changes, ownerGuard: guards.hotelOwner });
  reservationStaffRoutes(app, { db, reservations, staffGuard: guards.hotelStaff });
  auditStaffRoutes(app, { db, ownerGuard: guards.owner });
  liveChangeRoutes(app, { liveChanges: parts.liveChanges, streamGuard: guards.anyStream });
  trafficRoutes(app, { guests: parts.guests, isSandbox: parts.service.isSandbox, ownerGuard: guards.owner });
  todayRoutes(app, { db, anyGuard: guards.anyStaff });
  refusalStaffRoutes(app, { db, staffGuard: guards.deliveryStaff });
}

function ownerRoutes(app: App, parts: Parts): void {
  const { config, db, credentials, pmsCredentials, callBudgets: budgets, channels } = parts;
  const ownerGuard = parts.guards.owner;
  credentialRoutes(app, { credentials, ownerGuard, noun: 'Credential' });
  credentialRoutes(app, { credentials: pmsCredentials, ownerGuard, noun: 'PmsCredential' });
  channelRoutes(app, { channels, ownerGuard });
  partnerRoutes(app, {
    db,
    credentials,
    keyring: parts.keyring,
    budgets,
    ownerGuard,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
  });
  reportRoutes(app, { db, ownerGuard });
}

function accessRoutes(app: App, { db, keyring, budgets, callers, service, guards }: Parts): void {
  const { sessions, verifyToken } = callers;
  const attempts = new SignInAttempts({ db, pepper: keyring.pepper, budgets });
  authRoutes(app, { attempts, tokenKey: keyring.token });
  sessionRoutes(app, { db, sessions, attempts, verifyToken, service });
  const { anyStaff: anyGuard, person: personGuard } = guards;
  sessionStaffRoutes(app, { db, sessions, attempts, service, anyGuard, personGuard });
}

function peopleRoutes(app: App, parts: Parts): void {
  const { db, budgets, mailer, service, guards } = parts;
  const { pepper } = parts.keyring;
  const { sessions } = parts.callers;
  const links = new Links({ db, pepper, mailer, baseUrl: () => baseOfLinks(app) });
  const displays = new Displays({ db, pepper });
  peopleStaffRoutes(app, { people: new People({ db, links }), ownerGuard: guards.owner });
  linkRoutes(app, { links, sessions, budgets, service });
  displayStaffRoutes(app, { displays, ownerGuard: guards.owner });
  displayRoutes(app, { displays, sessions, budgets, service });
}

/** The headers of a request have no influence. Otherwise a caller could make the service send a link to a host of the caller. */
function baseOfLinks({ publicUrl, listeningOrigin }: App): string {
  return publicUrl ?? listeningOrigin.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
}
