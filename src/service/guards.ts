/** Makes the guards of the API: authentication and budgets. */
import type { Logger } from 'pino';
import { Authentication, callerGuard } from '#access/credentials/credentials.ts';
import { createStaffAuthentication, staffGuard } from '#access/sessions/guard.ts';
import { Sessions } from '#access/sessions/sessions.ts';
import { createTokenVerifier } from '#access/tenants/tokens.ts';
import type { Caches } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import type { BudgetStore } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import type { CallBudgets } from '#staff/partners/partners.ts';

interface GuardDependencies {
  config: Config;
  db: Database;
  keyring: Keyring;
  budgets: BudgetStore;
  log: Logger;
}

export type Callers = ReturnType<typeof createCallers>;

export function createCallers({ db, keyring, config, log }: GuardDependencies, caches: Caches) {
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

export type Guards = ReturnType<typeof createGuards>;

/** All third-party routes share one budget, and all PMS routes share a second one (contract §8). */
export function createCallBudgets({ budgets, config }: GuardDependencies): CallBudgets {
  return {
    third_party: budgets.budget('third-party', config.rateLimitPerMinute),
    pms: budgets.budget('pms', config.rateLimitPerMinute),
  };
}

export function createGuards({ db }: GuardDependencies, callers: Callers, callBudgets: CallBudgets) {
  const authenticate = createStaffAuthentication(db, callers.verifyToken, callers.sessions);
  const authenticateStream = createStaffAuthentication(db, callers.verifyToken, callers.sessions, true);
  const budget = callBudgets.third_party;
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
    anyCaller: callerGuard(callers.partners, budget),
    restaurantCaller: callerGuard(callers.partners, budget, 'restaurant'),
    hotelCaller: callerGuard(callers.partners, budget, 'hotel'),
    pms: callerGuard(callers.pms, callBudgets.pms),
  };
}
