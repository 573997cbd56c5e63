/** Makes the parts of the API once, with the guards of its routes. */
import type { Logger } from 'pino';
import { Authentication, callerGuard } from '#access/credentials/credentials.ts';
import { createRefusalHook } from '#access/refusals/refusals.ts';
import { createStaffAuthentication, staffGuard } from '#access/sessions/guard.ts';
import type { ServiceFacts } from '#access/sessions/me.ts';
import { Sessions } from '#access/sessions/sessions.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { createTokenVerifier } from '#access/tenants/tokens.ts';
import { Guests } from '#developer/sandbox/guests.ts';
import { type Caches, RecentChanges } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import type { HttpMetrics } from '#platform/http/metrics.ts';
import type { BudgetStore } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { createMailer } from '#platform/mail/mail.ts';
import { LiveChanges } from '#staff/live-changes/live-changes.ts';
import type { StreamBounds } from '#staff/live-changes/stream.ts';
import type { CallBudgets } from '#staff/partners/partners.ts';
import { type TestCallOptions, TestCalls } from '#webhooks/deliveries/test-call.ts';
import type { Wake } from '#webhooks/events/events.ts';
import { createBusiness } from './business.ts';
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
  metrics?: HttpMetrics | undefined;
  streams?: Partial<StreamBounds> | undefined;
  /** Object that records when this process last reached the database, for `/readyz`. */
  contact?: DatabaseContact;
  /** Finds the tenant whose guests and staff a simulation plays (`serve --demo`). Default: no simulation runs. */
  findDemo?: (() => Promise<Tenant | null>) | undefined;
  /** Returns false if the process has begun to stop. Then `/readyz` returns 503. */
  isServing?: () => boolean;
  /** Aborted when the port closes. It ends the test calls to webhooks, because a stop must not wait for them. */
  stopping?: AbortSignal | undefined;
  /** Overrides the default options for sending test calls to webhooks. Used by tests. */
  testCalls?: TestCallOptions['sending'];
}

export type Parts = Awaited<ReturnType<typeof createParts>>;

export async function createParts(deps: AppDependencies) {
  const { config, db, backgroundDb, log, budgets, findDemo } = deps;
  const contact = deps.contact ?? new DatabaseContact(db);
  const changes = new RecentChanges(backgroundDb, log, contact);
  const callers = createCallers(deps, changes);
  const { partners, sessions } = callers;
  // All third-party routes share one budget, and all PMS routes share a second one (contract §8).
  const callBudgets: CallBudgets = {
    third_party: budgets.budget('third-party', config.rateLimitPerMinute),
    pms: budgets.budget('pms', config.rateLimitPerMinute),
  };
  const noteUse = sessions.noteUse.bind(sessions);
  const liveChanges = new LiveChanges({ db: backgroundDb, changes, noteUse, log, bounds: deps.streams });
  const business = createBusiness({ ...deps, caches: changes });
  const simulation = {
    ...business,
    db: backgroundDb,
    log,
    noteUse: partners.noteUse.bind(partners),
    isWatched: liveChanges.isWatched.bind(liveChanges),
  };
  return {
    ...deps,
    ...business,
    contact,
    changes,
    callers,
    callBudgets,
    guards: createGuards(db, callers, callBudgets),
    refusals: createRefusalHook(deps),
    liveChanges,
    mailer: config.mail === null ? null : createMailer(config.mail, log),
    testCalls: new TestCalls({
      ...deps,
      headerBrand: config.webhookHeaderBrand,
      allowPrivateNetwork: config.webhookAllowPrivateNetwork,
      sending: deps.testCalls,
    }),
    /** Simulated guests of the demo tenant. Null if no simulation runs. */
    guests: findDemo === undefined ? null : new Guests({ ...simulation, findTenant: findDemo }),
    service: await factsOf(deps),
  };
}

async function factsOf({ config, findDemo }: AppDependencies): Promise<ServiceFacts> {
  const { eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand } = config;
  const isSandbox = async (tenantId: number) => (await findDemo?.())?.id === tenantId;
  return { version: await readVersion(), eventRetentionDays, rateLimitPerMinute, webhookHeaderBrand, isSandbox };
}

type Callers = ReturnType<typeof createCallers>;

function createCallers({ db, keyring, config, log }: AppDependencies, caches: Caches) {
  const onError = (what: string) => (error: unknown) => {
    log.warn({ err: error }, `the time of the last use of ${what} could not be written to the database`);
  };
  const ofCredentials = { db, keyring, caches, onError: onError('credentials') };
  return {
    partners: new Authentication({ ...ofCredentials, audience: 'third_party' }),
    pms: new Authentication({ ...ofCredentials, audience: 'pms' }),
    sessions: new Sessions({ db, pepper: keyring.pepper, onError: onError('sessions') }),
    verifyToken: createTokenVerifier(keyring.token, config.identityProvider, log),
  };
}

function createGuards(db: Database, { partners, pms, sessions, verifyToken }: Callers, budgets: CallBudgets) {
  const authenticate = createStaffAuthentication(db, verifyToken, sessions);
  const authenticateStream = createStaffAuthentication(db, verifyToken, sessions, true);
  return {
    owner: staffGuard(authenticate, 'owner'),
    person: staffGuard(authenticate, 'person'),
    anyStaff: staffGuard(authenticate, 'any'),
    anyStream: staffGuard(authenticateStream, 'any'),
    restaurantOwner: staffGuard(authenticate, 'owner', 'restaurant'),
    anyRestaurantStaff: staffGuard(authenticate, 'any', 'restaurant'),
    orderStaff: staffGuard(authenticate, { areas: ['orders'] }, 'restaurant'),
    menuStaff: staffGuard(authenticate, { areas: ['menu'] }, 'restaurant'),
    hotelStaff: staffGuard(authenticate, { areas: ['hotel'] }, 'hotel'),
    rateStaff: staffGuard(authenticate, { areas: ['rates'] }, 'hotel'),
    hotelOwner: staffGuard(authenticate, 'owner', 'hotel'),
    hotelOrRateStaff: staffGuard(authenticate, { areas: ['hotel', 'rates'] }, 'hotel'),
    deliveryStaff: staffGuard(authenticate, { areas: ['deliveries'] }),
    anyCaller: callerGuard(partners, budgets.third_party),
    restaurantCaller: callerGuard(partners, budgets.third_party, 'restaurant'),
    hotelCaller: callerGuard(partners, budgets.third_party, 'hotel'),
    pms: callerGuard(pms, budgets.pms),
  };
}
