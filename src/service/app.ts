/** Composes the API, and does what follows each answered request. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { RecentChanges } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { type Health, healthRoutes } from '#platform/http/health.ts';
import { REQUEST } from '#platform/http/log.ts';
import type { HttpMetrics } from '#platform/http/metrics.ts';
import type { BudgetStore } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { createMailer } from '#platform/mail/mail.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { ServiceFacts } from '#access/sessions/me.ts';
import type { Staff, Tenant } from '#access/tenants/tenants.ts';
import type { ChannelCall } from '#hotel/channels/channels.ts';
import { Guests } from '#developer/sandbox/guests.ts';
import { createRefusalHook } from '#access/refusals/refusals.ts';
import { LiveChanges } from '#staff/live-changes/live-changes.ts';
import type { StreamBounds } from '#staff/live-changes/stream.ts';
import { type TestCallOptions, TestCalls } from '#webhooks/deliveries/test-call.ts';
import type { Wake } from '#webhooks/events/events.ts';
import { type Business, createBusiness } from './business.ts';
import { type Callers, createCallBudgets, createCallers, createGuards } from './guards.ts';
import { registerRoutes } from './routes.ts';
import { readVersion } from './version.ts';

export interface AppDependencies {
  config: Config;
  db: Database;
  /** Separate connection pool for work that must continue while requests use all connections of `db`. */
  backgroundDb: Database;
  keyring: Keyring;
  budgets: BudgetStore;
  log: Logger;
  /** Null: the workers find the events at their next poll. */
  wake: Wake | null;
  metrics?: HttpMetrics;
  streams?: Partial<StreamBounds> | undefined;
  /** Object that records when this process last reached the database, for `/readyz`. */
  contact?: DatabaseContact;
  /** Finds the tenant whose guests and staff a simulation plays (`serve --demo`). Default: no simulation runs. */
  findDemo?: () => Promise<Tenant | null>;
  /** Returns false if the process has begun to stop. Then `/readyz` returns 503. */
  isServing?: () => boolean;
  /** Aborted when the port closes. It ends the test calls to webhooks, because a stop must not wait for them. */
  stopping?: AbortSignal | undefined;
  /** Overrides the default options for sending test calls to webhooks. Used by tests. */
  testCalls?: TestCallOptions['sending'];
}

/** The app does not listen yet. */
export async function createApp(deps: AppDependencies, extend?: (app: App) => Promise<void>): Promise<App> {
  const { config, log } = deps;
  const refusals = createRefusalHook(deps);
  const contact = deps.contact ?? new DatabaseContact(deps.db);
  const app = createHttpApp({
    logger: log,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    timeouts: { keepAliveMs: config.keepAliveSeconds * 1_000 },
    onAnswered(request, reply) {
      logAnswer(request, reply);
      deps.metrics?.answered(request, reply);
      wakeAfterWrite(liveChanges, request, reply);
    },
    onRefused: refusals.onRefused,
    onFailed: (error) => contact.noteFailure(error),
  });
  await extend?.(app);
  const changes = new RecentChanges(deps.backgroundDb, log, contact);
  const callers = createCallers(deps, changes);
  const noteUse = callers.sessions.noteUse.bind(callers.sessions);
  const liveChanges = new LiveChanges({ db: deps.backgroundDb, changes, noteUse, log, bounds: deps.streams });
  const mailer = config.mail === null ? null : createMailer(config.mail, log);
  const testCalls = new TestCalls({
    ...deps,
    headerBrand: config.webhookHeaderBrand,
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    sending: deps.testCalls,
  });
  const business = createBusiness({ ...deps, caches: changes });
  const guests = openGuests(deps, callers, liveChanges, business);
  app.addHook('onListen', async () => {
    changes.start();
    guests?.start();
  });
  app.addHook('onClose', async () => {
    const { partners, pms, sessions } = callers;
    await Promise.all([liveChanges.close(), guests?.close()]);
    await Promise.all([
      ...[changes, partners, pms, sessions, refusals, testCalls].map((part) => part.close()),
      mailer?.close(),
    ]);
  });
  const callBudgets = createCallBudgets(deps);
  registerRoutes(app, {
    ...deps,
    contact,
    changes,
    callers,
    mailer,
    liveChanges,
    testCalls,
    service: await factsOf(deps),
    guards: createGuards(deps, callers, callBudgets),
    callBudgets,
    guests,
    ...business,
  });
  return app;
}

/** Creates the app of a process that only sends deliveries. */
export function createHealthApp({ trustedProxies }: Pick<Config, 'trustedProxies'>, log: Logger, health: Health): App {
  const app = createHttpApp({ logger: log, trustedProxies });
  healthRoutes(app, health);
  return app;
}

/** Returns the simulated guests of the demo tenant, or null if no simulation runs. */
function openGuests(
  { findDemo, log, backgroundDb: db }: AppDependencies,
  { partners }: Callers,
  liveChanges: LiveChanges,
  business: Business,
): Guests | null {
  const noteUse = partners.noteUse.bind(partners);
  const isWatched = liveChanges.isWatched.bind(liveChanges);
  return findDemo === undefined ? null : new Guests({ ...business, db, log, findTenant: findDemo, noteUse, isWatched });
}

async function factsOf({ config, findDemo }: AppDependencies): Promise<ServiceFacts> {
  const { eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand } = config;
  const isSandbox = async (tenantId: number) => (await findDemo?.())?.id === tenantId;
  return { version: await readVersion(), eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand, isSandbox };
}

/** Clients of this process that watch the tenant get the change before the next regular poll. */
function wakeAfterWrite(liveChanges: LiveChanges, request: FastifyRequest, reply: FastifyReply): void {
  const tenantId = tenantOf(request);
  if (request.method !== 'GET' && reply.statusCode < 400 && tenantId !== undefined) {
    liveChanges.wake(tenantId);
  }
}

/** Fastify's type says that all of them are always present, but each guard sets one of them, and a refused request has none. */
interface Called {
  caller?: Caller;
  staff?: Staff;
  channelCall?: ChannelCall;
}

function tenantOf(request: FastifyRequest): number | undefined {
  const { caller, staff, channelCall } = request as Called;
  return caller?.tenantId ?? staff?.tenant.id ?? channelCall?.tenantId;
}

/** Logs one line for a request, with the ids of the tenant and the caller. The line contains no header, no body and no query. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { caller, staff } = request as Called;
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      // Undefined if the response was sent to its end, so that the log line does not have this field.
      cut_off: reply.raw.writableFinished ? undefined : true,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: tenantOf(request),
      credential_id: caller?.credentialId,
      user_id: staff?.type === 'person' ? staff.id : undefined,
      display_id: staff?.type === 'display' ? staff.id : undefined,
    },
    REQUEST,
  );
}
