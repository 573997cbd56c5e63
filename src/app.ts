import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { callerGuard } from './credentials/guard.ts';
import { type Caller, Credentials } from './credentials/credentials.ts';
import { credentialRoutes } from './credentials/routes.ts';
import type { Database } from './db/database.ts';
import { isMigrated } from './db/migrate.ts';
import { invalidField } from './errors.ts';
import { type App, createHttpApp } from './http/app.ts';
import { healthRoutes } from './http/health.ts';
import type { HttpMetrics } from './http/metrics.ts';
import type { BudgetStore } from './http/rate-limit.ts';
import type { Keyring } from './keys/keys.ts';
import { createMenuReader } from './menu/menu.ts';
import { menuRoutes } from './menu/routes.ts';
import { menuStaffRoutes } from './menu/staff-routes.ts';
import { Orders } from './orders/orders.ts';
import { orderRoutes } from './orders/routes.ts';
import { orderStaffRoutes } from './orders/staff-routes.ts';
import { ownerGuard, personGuard } from './tenants/guard.ts';
import { authRoutes } from './tenants/routes.ts';
import type { Person } from './tenants/tenants.ts';
import { createTokenVerifier } from './tenants/tokens.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { deliveryStaffRoutes } from './webhooks/staff-routes.ts';
import { createEventLog } from './webhooks/webhooks.ts';

export interface AppDependencies {
  config: Pick<
    Config,
    'publicUrl' | 'rateLimitPerMinute' | 'trustedProxies' | 'identityProvider' | 'webhookAllowPrivateNetwork'
  >;
  db: Database;
  keyring: Keyring;
  budgets: BudgetStore;
  log: Logger;
  /** Called after each commit that wrote an event: begins delivery where this process delivers. */
  wakeDeliveries: () => void;
  metrics?: HttpMetrics;
  /** False once the process is stopping: `/readyz` then answers 503. */
  isServing?: () => boolean;
}

/**
 * Composition root of the API: every part is made here, every route registered by name. It does not listen yet.
 * @param extend adds what must be there before the first route
 */
export async function createApp(deps: AppDependencies, extend?: (app: App) => Promise<void>): Promise<App> {
  const { config, db, keyring, budgets, log } = deps;
  const app = createHttpApp({
    logger: log,
    trustedProxies: config.trustedProxies,
    onAnswered(request, reply) {
      logAnswer(request, reply);
      deps.metrics?.answered(request, reply);
    },
  });
  app.addHook('preValidation', refuseTenantParameters);
  await extend?.(app);
  const credentials = new Credentials({
    db,
    keyring,
    onError: (error) => log.warn({ err: error }, 'last use of credentials could not be written'),
  });
  app.addHook('onClose', () => credentials.close());

  const verifyToken = createTokenVerifier(keyring.token, config.identityProvider);
  const owner = ownerGuard(db, verifyToken);
  const restaurantStaff = personGuard(db, verifyToken, 'restaurant');
  const anyStaff = personGuard(db, verifyToken);
  const budget = budgets.budget('third-party', config.rateLimitPerMinute);
  const anyCaller = callerGuard(credentials, budget);
  const restaurantCaller = callerGuard(credentials, budget, 'restaurant');

  const { publicUrl } = config;
  const events = createEventLog(deps.wakeDeliveries);
  const readListedMenu = createMenuReader(db);
  const orders = new Orders({ db, readListedMenu, events });

  healthRoutes(app, async () => (deps.isServing?.() ?? true) && (await isMigrated(db)));
  authRoutes(app, { db, tokenKey: keyring.token, budgets });
  credentialRoutes(app, { credentials, publicUrl, ownerGuard: owner });
  webhookRoutes(app, {
    credentials,
    callerGuard: anyCaller,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
  });
  menuRoutes(app, { readListedMenu, publicUrl, callerGuard: restaurantCaller });
  orderRoutes(app, { orders, publicUrl, callerGuard: restaurantCaller });
  menuStaffRoutes(app, { db, staffGuard: restaurantStaff });
  orderStaffRoutes(app, { orders, publicUrl, staffGuard: restaurantStaff });
  deliveryStaffRoutes(app, { db, publicUrl, staffGuard: anyStaff });
  return app;
}

/** The tenant is the credential's, never the request's: contract §1, decision 4. */
async function refuseTenantParameters(request: FastifyRequest): Promise<void> {
  if (request.routeOptions.url?.startsWith('/v1/third-party/')) {
    const query = request.query as Record<string, unknown>;
    const refused = ['tenant_id', 'restaurant_id', 'hotel_id'].find((name) => name in query);
    if (refused !== undefined) {
      throw invalidField(refused, 'is not accepted: the credential says whose data this is');
    }
  }
}

/** One line a request, with the ids to find it by; no header, no body, no query. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  // Typed as always there, for the routes; before a guard has run, or where there is none, they are not.
  const { caller, person } = request as { caller?: Caller; person?: Person };
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: caller?.tenantId ?? person?.tenant.id,
      credential_id: caller?.credentialId,
      user_id: person?.userId,
    },
    'request',
  );
}
