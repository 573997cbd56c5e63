import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { auditStaffRoutes } from '#access/audit/staff-routes.ts';
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
import { menuRoutes } from '#restaurant/menu/routes.ts';
import { menuStaffRoutes } from '#restaurant/menu/staff-routes.ts';
import { openingStaffRoutes } from '#restaurant/opening/staff-routes.ts';
import { orderRoutes } from '#restaurant/orders/routes.ts';
import { orderStaffRoutes } from '#restaurant/orders/staff-routes.ts';
import { pmsRoutes } from '#hotel/pms/routes.ts';
import { propertyStaffRoutes } from '#hotel/front-desk/staff-routes.ts';
import { reservationRoutes } from '#hotel/reservations/routes.ts';
import { reservationStaffRoutes } from '#hotel/reservations/staff-routes.ts';
import { roomRoutes } from '#hotel/rooms/routes.ts';
import { ownerGuard, personGuard } from '#access/tenants/guard.ts';
import { authRoutes } from '#access/tenants/routes.ts';
import type { Person } from '#access/tenants/tenants.ts';
import { createTokenVerifier } from '#access/tenants/tokens.ts';
import { feedRoutes } from '#webhooks/events/routes.ts';
import { webhookRoutes } from '#webhooks/deliveries/routes.ts';
import { partnerRoutes } from '#staff/partners/routes.ts';
import { deliveryStaffRoutes } from '#webhooks/deliveries/staff-routes.ts';
import type { LocalDelivery } from '#webhooks/events/events.ts';
import { type Business, createBusiness } from './business.ts';

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
  app.addHook('onListen', async () => changes.start());
  app.addHook('onClose', async () => {
    await Promise.all([changes.close(), callers.partners.close(), callers.pms.close()]);
  });
  registerRoutes(app, deps, {
    contact,
    changes,
    guards: createGuards(deps, callers),
    ...createBusiness({ ...deps, caches: changes }),
  });
  return app;
}

interface Parts extends Business {
  contact: DatabaseContact;
  changes: RecentChanges;
  guards: Guards;
}

function registerRoutes(app: App, deps: AppDependencies, parts: Parts): void {
  const { config, db, keyring, budgets } = deps;
  const { contact, guards, changes, credentials, pmsCredentials, channels, readListedMenu, opening, orders } = parts;
  const { reservations, findRoomType, readHeldNights } = parts;

  healthRoutes(app, { ...(deps.isServing ? { isServing: deps.isServing } : {}), isReady: () => contact.isReady() });
  docsRoutes(app);
  authRoutes(app, { db, keyring, budgets });
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
    staffGuard: guards.restaurantStaff,
    maxRenderedBytes: config.bounds.renderedMenuBytes,
  });
  orderStaffRoutes(app, { orders, staffGuard: guards.restaurantStaff });
  openingStaffRoutes(app, {
    opening,
    changes,
    staffGuard: guards.restaurantStaff,
    ordersGuard: guards.restaurantStaff,
    ownerGuard: guards.owner,
  });
  propertyStaffRoutes(app, { db, staffGuard: guards.hotelStaff });
  reservationStaffRoutes(app, { reservations, staffGuard: guards.hotelStaff });
  auditStaffRoutes(app, {
    db,
    ownerGuard: guards.owner,
    tenantOf: (request) => request.person.tenant.id,
  });
  deliveryStaffRoutes(app, { db, staffGuard: guards.anyStaff });
  partnerRoutes(app, { credentials, db, ownerGuard: guards.owner, shape: Credential });
}

type Callers = ReturnType<typeof createCallers>;

/** Creates the authentication of the third-party API and of the PMS API. Both use the tenant cache. */
function createCallers({ db, keyring, log }: AppDependencies, caches: Caches) {
  const onError = (error: unknown) => {
    if (!isLogged(error)) {
      log.warn({ err: error }, 'the time of the last use of credentials could not be written');
    }
  };
  return {
    partners: new Authentication({ db, keyring, audience: 'third_party', caches, onError }),
    pms: new Authentication({ db, keyring, audience: 'pms', caches, onError }),
  };
}

type Guards = ReturnType<typeof createGuards>;

/** Creates the guards of the routes. All third-party routes share one budget, and all PMS routes share a second one (contract §8). */
function createGuards({ db, keyring, config, budgets }: AppDependencies, callers: Callers) {
  const verifyToken = createTokenVerifier(keyring.token, config.identityProvider);
  const budget = budgets.budget('third-party', config.rateLimitPerMinute);
  return {
    owner: ownerGuard(db, verifyToken),
    anyStaff: personGuard(db, verifyToken),
    restaurantStaff: personGuard(db, verifyToken, 'restaurant'),
    hotelStaff: personGuard(db, verifyToken, 'hotel'),
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
  // The request type declares `caller` and `person` as always present, because the code of the routes needs them. But if no guard has run
  // for the request, both are missing.
  const { caller, person } = request as { caller?: Caller; person?: Person };
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      // Set only if the response was not sent to its end. Either the client closed the connection, or the response failed.
      cut_off: reply.raw.writableFinished ? undefined : true,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: caller?.tenantId ?? person?.tenant.id,
      credential_id: caller?.credentialId,
      user_id: person?.userId,
    },
    'request',
  );
}
