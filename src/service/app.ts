import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { channelRoutes, receiverRoutes } from '#hotel/channels/routes.ts';
import { RecentChanges } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import { credentialRoutes } from '#access/credentials/routes.ts';
import { Credential, PmsCredential } from '#access/credentials/schema.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { docsRoutes } from '#developer/docs/routes.ts';
import { invalidField } from '#platform/errors.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { healthRoutes } from '#platform/http/health.ts';
import type { HttpMetrics } from '#platform/http/metrics.ts';
import type { BudgetStore } from '#platform/http/rate-limit.ts';
import type { EventStreams, StreamBounds } from '#platform/http/event-streams.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { createMailer, type Mailer } from '#platform/mail/mail.ts';
import { menuRoutes } from '#restaurant/menu/routes.ts';
import { menuStaffRoutes } from '#restaurant/menu/staff-routes.ts';
import { openingStaffRoutes } from '#restaurant/opening/staff-routes.ts';
import { orderRoutes } from '#restaurant/orders/routes.ts';
import { orderStaffRoutes } from '#restaurant/orders/staff-routes.ts';
import { pmsRoutes } from '#hotel/pms/routes.ts';
import { calendarStaffRoutes, propertyStaffRoutes } from '#hotel/front-desk/staff-routes.ts';
import { nightStaffRoutes } from '#hotel/nights/staff-routes.ts';
import { rateStaffRoutes } from '#hotel/rates/staff-routes.ts';
import { nightHistoryRoutes } from '#hotel/reservations/night-routes.ts';
import { reservationRoutes } from '#hotel/reservations/routes.ts';
import { reservationStaffRoutes } from '#hotel/reservations/staff-routes.ts';
import { roomRoutes } from '#hotel/rooms/routes.ts';
import { roomTypeStaffRoutes } from '#hotel/rooms/staff-routes.ts';
import type { ServiceFacts } from '#access/sessions/me.ts';
import { linkRoutes } from '#access/people/routes.ts';
import { Links, People } from '#access/people/people.ts';
import { peopleStaffRoutes } from '#access/people/staff-routes.ts';
import { createRefusalHook } from '#access/refusals/hook.ts';
import { refusalStaffRoutes } from '#access/refusals/staff-routes.ts';
import { displayRoutes } from '#access/sessions/display-routes.ts';
import { displayStaffRoutes } from '#access/sessions/display-staff-routes.ts';
import { Displays } from '#access/sessions/displays.ts';
import { sessionRoutes } from '#access/sessions/routes.ts';
import { sessionStaffRoutes } from '#access/sessions/staff-routes.ts';
import { authRoutes } from '#access/tenants/routes.ts';
import { SignInAttempts } from '#access/tenants/tenants.ts';
import { feedRoutes } from '#webhooks/events/routes.ts';
import { eventStaffRoutes } from '#webhooks/events/staff-routes.ts';
import { webhookRoutes } from '#webhooks/deliveries/routes.ts';
import { LiveChanges, type LiveCounts } from '#staff/live-changes/live-changes.ts';
import { liveChangeRoutes } from '#staff/live-changes/routes.ts';
import type { CallBudgets } from '#staff/partners/partners.ts';
import { partnerRoutes } from '#staff/partners/routes.ts';
import { credentialWebhookRoutes } from '#staff/partners/webhook-routes.ts';
import { reportRoutes } from '#staff/reports/routes.ts';
import { auditStaffRoutes } from '#staff/trail/routes.ts';
import { deliveryStaffRoutes } from '#webhooks/deliveries/staff-routes.ts';
import { testCallRoutes } from '#webhooks/deliveries/test-call-routes.ts';
import { type TestCallOptions, TestCalls } from '#webhooks/deliveries/test-call.ts';
import type { LocalDelivery } from '#webhooks/events/events.ts';
import { logAnswer, wakeAfterWrite } from './answered.ts';
import { type Business, createBusiness } from './business.ts';
import { type Callers, createCallBudgets, createCallers, createGuards, type Guards } from './guards.ts';
import { readVersion } from './version.ts';

export interface AppDependencies {
  config: Pick<
    Config,
    | 'keepAliveSeconds'
    | 'publicUrl'
    | 'rateLimitPerMinute'
    | 'trustedProxies'
    | 'identityProvider'
    | 'webhookAllowPrivateNetwork'
    | 'webhookHeaderBrand'
    | 'eventRetentionDays'
    | 'mail'
  >;
  db: Database;
  /** Separate connection pool for work that must continue while requests use all connections of `db`. */
  backgroundDb: Database;
  keyring: Keyring;
  budgets: BudgetStore;
  log: Logger;
  /**
   * Delivery worker of this process, which sends new events immediately. Null if this process has no worker. Then other processes find the
   * events in the database and send them.
   */
  deliveries: LocalDelivery | null;
  metrics?: HttpMetrics;
  /**
   * Registers metrics of live changes, which are messages that tell a client that data of its tenant has changed. The metrics count these
   * messages, the database reads that find the changes, and the open streams that carry the messages.
   */
  watchLive?: (counts: LiveCounts, streams: EventStreams) => void;
  /** Bounds on streams of events. A missing field keeps its default. */
  streams?: Partial<StreamBounds> | undefined;
  /**
   * Object that records when this process last reached the database, for `/readyz`. Regular statements, such as the poll for recent
   * changes, report their success to this object. Default: a new object.
   */
  contact?: DatabaseContact;
  /** Returns true if a simulation (`serve --demo`) changes the orders and reservations of the tenant. Default: no simulation runs. */
  isSandbox?: ServiceFacts['isSandbox'];
  /** Returns false if the process has begun to stop. Then `/readyz` returns 503. */
  isServing?: () => boolean;
  /**
   * Signal that is aborted when the port closes. It ends the test calls to webhooks that are under way, because a stop must not wait for
   * them.
   */
  stopping?: AbortSignal | undefined;
  /** Overrides the default options for sending test calls to webhooks. Used by tests. */
  testCalls?: TestCallOptions['sending'];
}

/**
 * Creates the API with all its parts and routes, and connects the parts to each other. The app does not listen yet.
 * @param extend changes the app before the first route is registered
 */
export async function createApp(deps: AppDependencies, extend?: (app: App) => Promise<void>): Promise<App> {
  const { config, log } = deps;
  const refusals = createRefusalHook(deps);
  const contact = deps.contact ?? new DatabaseContact(deps.db);
  const app = createHttpApp({
    logger: log,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    timeouts: { keepAliveMs: config.keepAliveSeconds * 1_000 },
    streams: deps.streams,
    onAnswered(request, reply) {
      logAnswer(request, reply);
      deps.metrics?.answered(request, reply);
      wakeAfterWrite(liveChanges, request, reply);
    },
    onRefused: refusals.onRefused,
    onFailed: (error) => contact.noteFailure(error),
  });
  app.addHook('preValidation', (request, _reply, done) => {
    refuseTenantParameters(request);
    refuseUnknownParameters(request);
    done();
  });
  await extend?.(app);
  const changes = new RecentChanges(deps.backgroundDb, log, contact);
  const callers = createCallers(deps, changes);
  const noteUse = callers.sessions.noteUse.bind(callers.sessions);
  const liveChanges = new LiveChanges({ db: deps.backgroundDb, changes, noteUse, log });
  deps.watchLive?.(liveChanges.counts, app.eventStreams);
  const mailer = config.mail === null ? null : createMailer(config.mail, log);
  const testCalls = new TestCalls({
    ...deps,
    headerBrand: config.webhookHeaderBrand,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    sending: deps.testCalls,
  });
  app.addHook('onListen', async () => changes.start());
  app.addHook('onClose', async () => {
    const { partners, pms, sessions } = callers;
    await liveChanges.close();
    await Promise.all([
      ...[changes, partners, pms, sessions, refusals, testCalls].map((part) => part.close()),
      mailer?.close(),
    ]);
  });
  const callBudgets = createCallBudgets(deps);
  registerRoutes(app, deps, {
    contact,
    changes,
    callers,
    mailer,
    liveChanges,
    testCalls,
    service: await factsOf(deps),
    guards: createGuards(deps, callers, callBudgets),
    callBudgets,
    ...createBusiness({ ...deps, caches: changes }),
  });
  return app;
}

interface Parts extends Business {
  contact: DatabaseContact;
  changes: RecentChanges;
  callers: Callers;
  /** Null if the service sends no mail. */
  mailer: Mailer | null;
  liveChanges: LiveChanges;
  testCalls: TestCalls;
  service: ServiceFacts;
  guards: Guards;
  callBudgets: CallBudgets;
}

function registerRoutes(app: App, deps: AppDependencies, parts: Parts): void {
  const { config, db } = deps;
  const { contact, guards, changes, credentials, channels, readListedMenu, opening, orders } = parts;
  const { reservations, staffStays, findRoomType, readHeldNights } = parts;

  healthRoutes(app, { ...(deps.isServing ? { isServing: deps.isServing } : {}), isReady: () => contact.isReady() });
  docsRoutes(app);
  accessRoutes(app, deps, parts);
  peopleRoutes(app, deps, parts);
  ownerRoutes(app, deps, parts);
  webhookRoutes(app, {
    credentials,
    callerGuard: guards.anyCaller,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
  });
  feedRoutes(app, { db, callerGuard: guards.anyCaller, headerBrand: config.webhookHeaderBrand });
  menuRoutes(app, { readListedMenu, callerGuard: guards.restaurantCaller });
  orderRoutes(app, { orders, callerGuard: guards.restaurantCaller });
  roomRoutes(app, { db, callerGuard: guards.hotelCaller });
  reservationRoutes(app, { reservations, callerGuard: guards.hotelCaller });
  pmsRoutes(app, { db, findRoomType, readHeldNights, reservations, pmsGuard: guards.pms });
  receiverRoutes(app, { db, channels, reservations, headerBrand: config.webhookHeaderBrand });
  menuStaffRoutes(app, { db, changes, staffGuard: guards.menuStaff });
  orderStaffRoutes(app, { orders, staffGuard: guards.orderStaff });
  openingStaffRoutes(app, {
    opening,
    changes,
    staffGuard: guards.anyRestaurantStaff,
    ordersGuard: guards.orderStaff,
    ownerGuard: guards.restaurantOwner,
  });
  propertyStaffRoutes(app, { db, staffGuard: guards.hotelOrRateStaff });
  calendarStaffRoutes(app, { db, staffGuard: guards.hotelStaff });
  nightStaffRoutes(app, { db, staffGuard: guards.hotelStaff });
  nightHistoryRoutes(app, { db, staffGuard: guards.hotelStaff });
  rateStaffRoutes(app, { db, rateGuard: guards.rateStaff });
  roomTypeStaffRoutes(app, { db, changes, ownerGuard: guards.hotelOwner });
  reservationStaffRoutes(app, { reservations, staffStays, staffGuard: guards.hotelStaff });
  auditStaffRoutes(app, { db, ownerGuard: guards.owner });
  deliveryStaffRoutes(app, { db, staffGuard: guards.deliveryStaff, headerBrand: config.webhookHeaderBrand });
  eventStaffRoutes(app, { db, staffGuard: guards.deliveryStaff, headerBrand: config.webhookHeaderBrand });
  liveChangeRoutes(app, { liveChanges: parts.liveChanges, streamGuard: guards.anyStream });
  refusalStaffRoutes(app, { db, staffGuard: guards.deliveryStaff });
  testCallRoutes(app, { testCalls: parts.testCalls, budgets: deps.budgets, staffGuard: guards.deliveryStaff });
}

/** Registers the operations with which an owner manages the credentials of partners and PMSs, and the channels (booking sites). */
function ownerRoutes(app: App, { config, db }: AppDependencies, parts: Parts): void {
  const { credentials, pmsCredentials, ownerCredentials, callBudgets: budgets, channels } = parts;
  const ownerGuard = parts.guards.owner;
  credentialRoutes(app, {
    credentials,
    ownerGuard,
    path: '/v1/third-party/credentials/',
    shape: Credential,
    noun: 'Credential',
  });
  credentialRoutes(app, {
    credentials: pmsCredentials,
    ownerGuard,
    path: '/v1/channel-manager/credentials/',
    shape: PmsCredential,
    noun: 'PmsCredential',
  });
  channelRoutes(app, { channels, ownerGuard });
  partnerRoutes(app, {
    db,
    credentials,
    ownerCredentials,
    budgets,
    ownerGuard,
    shape: Credential,
  });
  credentialWebhookRoutes(app, {
    db,
    ownerCredentials,
    ownerGuard,
    shape: Credential,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
  });
  reportRoutes(app, { db, ownerGuard });
}

/** Registers the operations of sign-in, and the operations on the caller's own account and sessions. */
function accessRoutes(app: App, { db, keyring, budgets }: AppDependencies, { callers, service, guards }: Parts): void {
  const { sessions, verifyToken } = callers;
  const attempts = new SignInAttempts({ db, pepper: keyring.pepper, budgets });
  authRoutes(app, { attempts, tokenKey: keyring.token });
  sessionRoutes(app, { db, sessions, attempts, verifyToken, service });
  const { anyStaff: anyGuard, person: personGuard } = guards;
  sessionStaffRoutes(app, { db, sessions, attempts, service, anyGuard, personGuard });
}

/**
 * Registers the operations with which owners manage people and displays, and the operations with which people and displays sign in for the
 * first time.
 */
function peopleRoutes(app: App, { db, keyring, budgets }: AppDependencies, parts: Parts): void {
  const { mailer, service, guards } = parts;
  const { pepper } = keyring;
  const { sessions } = parts.callers;
  const links = new Links({ db, pepper, mailer, baseUrl: () => baseOfLinks(app) });
  const displays = new Displays({ db, pepper });
  peopleStaffRoutes(app, { people: new People({ db, links }), ownerGuard: guards.owner });
  linkRoutes(app, { links, sessions, budgets, service });
  displayStaffRoutes(app, { displays, ownerGuard: guards.owner });
  displayRoutes(app, { displays, sessions, budgets, service });
}

/**
 * Returns the beginning of the URL of an invitation or a password reset, without a trailing slash. This is PUBLIC_URL, or else the address
 * on which the process listens. The headers of a request have no influence. Otherwise a caller could make the service send a link to a host
 * of the caller.
 */
function baseOfLinks({ publicUrl, listeningOrigin }: App): string {
  return publicUrl ?? listeningOrigin.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
}

/** Returns facts about the service that staff of a tenant may see, such as its version and the limit of calls per minute. */
async function factsOf({ config, isSandbox = async () => false }: AppDependencies): Promise<ServiceFacts> {
  const { eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand } = config;
  return { version: await readVersion(), eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand, isSandbox };
}

/** Refuses query parameters that name a tenant, because only the credential determines the tenant (contract §1, decision 4). */
function refuseTenantParameters(request: FastifyRequest): void {
  if (request.routeOptions.url?.startsWith('/v1/third-party/')) {
    const query = request.query as Record<string, unknown>;
    const refused = ['tenant_id', 'restaurant_id', 'hotel_id'].find((name) => name in query);
    if (refused !== undefined) {
      throw invalidField(refused, 'is not accepted, because the credential determines the tenant. Leave it out');
    }
  }
}

/**
 * Refuses query parameters that a call of the staff API does not know. A misspelled filter would otherwise show everything, and a misspelled
 * `dry_run` would change the menu. Partners may send unknown parameters (decision 4).
 */
function refuseUnknownParameters({ routeOptions, query }: FastifyRequest): void {
  const schema = routeOptions.schema?.querystring as { properties: object } | undefined;
  if (schema !== undefined && routeOptions.url?.startsWith('/v1/staff/')) {
    const unknown = Object.keys(query as object).find((name) => !Object.hasOwn(schema.properties, name));
    if (unknown !== undefined) {
      const known = Object.keys(schema.properties).join(', ');
      throw invalidField(
        unknown,
        `is not a parameter of this call, which knows ${known}. Correct the name, or leave it out`,
      );
    }
  }
}
