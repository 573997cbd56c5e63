import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { channelRoutes, receiverRoutes } from '#hotel/channels/routes.ts';
import { type Caches, RecentChanges } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import { callerGuard, pmsGuard } from '#access/credentials/guard.ts';
import { Authentication, type Caller } from '#access/credentials/credentials.ts';
import { credentialRoutes } from '#access/credentials/routes.ts';
import { Credential, PmsCredential } from '#access/credentials/schema.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { docsRoutes } from '#developer/docs/routes.ts';
import { invalidField, isLogged } from '#platform/errors.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { healthRoutes } from '#platform/http/health.ts';
import type { HttpMetrics } from '#platform/http/metrics.ts';
import type { BudgetStore } from '#platform/http/rate-limit.ts';
import type { ReaderBounds } from '#platform/http/slow-readers.ts';
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
import { createStaffAuthentication, staffGuard } from '#access/sessions/guard.ts';
import type { ServiceFacts } from '#access/sessions/me.ts';
import { linkRoutes } from '#access/people/routes.ts';
import { Links, People } from '#access/people/people.ts';
import { peopleStaffRoutes } from '#access/people/staff-routes.ts';
import { displayRoutes } from '#access/sessions/display-routes.ts';
import { displayStaffRoutes } from '#access/sessions/display-staff-routes.ts';
import { Displays } from '#access/sessions/displays.ts';
import { sessionRoutes } from '#access/sessions/routes.ts';
import { Sessions } from '#access/sessions/sessions.ts';
import { sessionStaffRoutes } from '#access/sessions/staff-routes.ts';
import { authRoutes } from '#access/tenants/routes.ts';
import { SignInAttempts, type Staff } from '#access/tenants/tenants.ts';
import { createTokenVerifier, type VerifyToken } from '#access/tenants/tokens.ts';
import { feedRoutes } from '#webhooks/events/routes.ts';
import { eventStaffRoutes } from '#webhooks/events/staff-routes.ts';
import { webhookRoutes } from '#webhooks/deliveries/routes.ts';
import { partnerRoutes } from '#staff/partners/routes.ts';
import { auditStaffRoutes } from '#staff/trail/routes.ts';
import { deliveryStaffRoutes } from '#webhooks/deliveries/staff-routes.ts';
import type { LocalDelivery } from '#webhooks/events/events.ts';
import { type Business, createBusiness } from './business.ts';
import { readVersion } from './version.ts';

export interface AppDependencies {
  config: Pick<
    Config,
    | 'publicUrl'
    | 'rateLimitPerMinute'
    | 'bounds'
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
  /** Deliveries that this process sends. Null if only other processes send deliveries. */
  deliveries: LocalDelivery | null;
  metrics?: HttpMetrics;
  /** Limits for clients that read a response with a long list slowly. A missing field keeps its default. */
  readers?: Partial<ReaderBounds> | undefined;
  /** Contact of this process with the database, which the polls confirm. Default: a new one. */
  contact?: DatabaseContact;
  /** Returns true if a sandbox changes the orders and reservations of the tenant. Default: no sandbox runs. */
  isSandbox?: ServiceFacts['isSandbox'];
  /** Returns false if the process is stopping. Then `/readyz` returns 503. `address` is the address of the caller. */
  isServing?: (address: string) => boolean;
}

/**
 * Creates the API with all its parts and routes. This function is the composition root of the API. The app does not listen yet.
 * @param extend changes the app before the first route is registered
 */
export async function createApp(deps: AppDependencies, extend?: (app: App) => Promise<void>): Promise<App> {
  const { config, log } = deps;
  const app = createHttpApp({
    logger: log,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    bounds: config.bounds,
    readers: deps.readers,
    onAnswered(request, reply) {
      logAnswer(request, reply);
      deps.metrics?.answered(request, reply);
    },
  });
  app.addHook('preValidation', (request, _reply, done) => {
    refuseTenantParameters(request);
    done();
  });
  await extend?.(app);
  const contact = deps.contact ?? new DatabaseContact(deps.db);
  const changes = new RecentChanges(deps.backgroundDb, log, contact);
  const callers = createCallers(deps, changes);
  const mailer = config.mail === null ? null : createMailer(config.mail, log);
  app.addHook('onListen', async () => changes.start());
  app.addHook('onClose', async () => {
    const { partners, pms, sessions } = callers;
    await Promise.all([changes.close(), partners.close(), pms.close(), sessions.close(), mailer?.close()]);
  });
  registerRoutes(app, deps, {
    contact,
    changes,
    callers,
    mailer,
    service: await factsOf(deps),
    guards: createGuards(deps, callers),
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
  service: ServiceFacts;
  guards: Guards;
}

function registerRoutes(app: App, deps: AppDependencies, parts: Parts): void {
  const { config, db } = deps;
  const { contact, guards, changes, credentials, pmsCredentials, channels, readListedMenu, opening, orders } = parts;
  const { reservations, staffStays, findRoomType, readHeldNights } = parts;

  healthRoutes(app, { ...(deps.isServing ? { isServing: deps.isServing } : {}), isReady: () => contact.isReady() });
  docsRoutes(app);
  accessRoutes(app, deps, parts);
  peopleRoutes(app, deps, parts);
  credentialRoutes(app, {
    credentials,
    ownerGuard: guards.owner,
    path: '/v1/third-party/credentials/',
    shape: Credential,
    noun: 'Credential',
  });
  credentialRoutes(app, {
    credentials: pmsCredentials,
    ownerGuard: guards.owner,
    path: '/v1/channel-manager/credentials/',
    shape: PmsCredential,
    noun: 'PmsCredential',
  });
  channelRoutes(app, { channels, ownerGuard: guards.owner });
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
  menuStaffRoutes(app, {
    db,
    changes,
    staffGuard: guards.menuStaff,
    maxRenderedBytes: config.bounds.renderedMenuBytes,
  });
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
  partnerRoutes(app, { credentials, db, ownerGuard: guards.owner, shape: Credential });
}

/** Registers the operations of sign-in, and those of the caller's own account and sessions. */
function accessRoutes(app: App, { db, keyring, budgets }: AppDependencies, { callers, service, guards }: Parts): void {
  const { sessions, verifyToken } = callers;
  const attempts = new SignInAttempts({ db, pepper: keyring.pepper, budgets });
  authRoutes(app, { attempts, tokenKey: keyring.token });
  sessionRoutes(app, { db, sessions, attempts, verifyToken, service });
  const { anyStaff: anyGuard, person: personGuard } = guards;
  sessionStaffRoutes(app, { db, sessions, attempts, service, anyGuard, personGuard });
}

/** Registers the operations with which owners manage people and displays, and those with which both sign in for the first time. */
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
 * Returns the URL with which the links for people begin, without a trailing slash: PUBLIC_URL, or the address on which the process listens. No
 * header of a request changes it. Otherwise a caller could make the service send a link to another host.
 */
function baseOfLinks({ publicUrl, listeningOrigin }: App): string {
  return publicUrl ?? listeningOrigin.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
}

/** Returns the facts about the service that its staff may see. */
async function factsOf({ config, isSandbox = async () => false }: AppDependencies): Promise<ServiceFacts> {
  const { eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand } = config;
  return { version: await readVersion(), eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand, isSandbox };
}

interface Callers {
  partners: Authentication;
  pms: Authentication;
  sessions: Sessions;
  verifyToken: VerifyToken;
}

/** Creates the authentication of the third-party API, of the PMS API and of the staff API. The first two use the tenant cache. */
function createCallers({ db, keyring, config, log }: AppDependencies, caches: Caches): Callers {
  const onError = (what: string) => (error: unknown) => {
    if (!isLogged(error)) {
      log.warn({ err: error }, `the time of the last use of ${what} could not be written`);
    }
  };
  const ofCredentials = { db, keyring, caches, onError: onError('credentials') };
  return {
    partners: new Authentication({ ...ofCredentials, audience: 'third_party' }),
    pms: new Authentication({ ...ofCredentials, audience: 'pms' }),
    sessions: new Sessions({ db, pepper: keyring.pepper, onError: onError('sessions') }),
    verifyToken: createTokenVerifier(keyring.token, config.identityProvider),
  };
}

type Guards = ReturnType<typeof createGuards>;

/** Creates the guards of the routes. All third-party routes share one budget, and all PMS routes share a second one (contract §8). */
function createGuards({ db, config, budgets }: AppDependencies, callers: Callers) {
  const authenticate = createStaffAuthentication(db, callers.verifyToken, callers.sessions);
  const budget = budgets.budget('third-party', config.rateLimitPerMinute);
  return {
    owner: staffGuard(authenticate, 'owner'),
    person: staffGuard(authenticate, 'person'),
    anyStaff: staffGuard(authenticate, 'any'),
    restaurantOwner: staffGuard(authenticate, 'owner', 'restaurant'),
    anyRestaurantStaff: staffGuard(authenticate, 'any', 'restaurant'),
    orderStaff: staffGuard(authenticate, { areas: ['orders'] }, 'restaurant'),
    menuStaff: staffGuard(authenticate, { areas: ['menu'] }, 'restaurant'),
    hotelStaff: staffGuard(authenticate, { areas: ['hotel'] }, 'hotel'),
    rateStaff: staffGuard(authenticate, { areas: ['rates'] }, 'hotel'),
    hotelOwner: staffGuard(authenticate, 'owner', 'hotel'),
    hotelOrRateStaff: staffGuard(authenticate, { areas: ['hotel', 'rates'] }, 'hotel'),
    deliveryStaff: staffGuard(authenticate, { areas: ['deliveries'] }),
    anyCaller: callerGuard(callers.partners, budget),
    restaurantCaller: callerGuard(callers.partners, budget, 'restaurant'),
    hotelCaller: callerGuard(callers.partners, budget, 'hotel'),
    pms: pmsGuard(callers.pms, budgets.budget('pms', config.rateLimitPerMinute)),
  };
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

/** Logs one line for a request, with the ids of the tenant and the caller. The line contains no header, no body and no query. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  // The request type declares `caller` and `staff` as always present, because the code of the routes needs them. But if no guard has run
  // for the request, both are missing.
  const { caller, staff } = request as { caller?: Caller; staff?: Staff };
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      // Set only if the response was not sent to its end. Either the client closed the connection, or the response failed.
      cut_off: reply.raw.writableFinished ? undefined : true,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: caller?.tenantId ?? staff?.tenant.id,
      credential_id: caller?.credentialId,
      user_id: staff?.type === 'person' ? staff.id : undefined,
      display_id: staff?.type === 'display' ? staff.id : undefined,
    },
    'request',
  );
}
