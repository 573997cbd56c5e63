import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Tenant and caller that pay for a piece of work. Fair queues and bounds share bytes, connections and turns among the accounts.
 * A request begins with the account of unauthenticated callers (`STRANGERS`). Authentication changes this object in place.
 */
export interface Account {
  tenant: string;
  /**
   * Credential or user of the tenant. For a call without authentication it is the channel or the network of the client's address, and
   * it is empty until that is known.
   */
  caller: string;
}

/** Tenant name in the account of all callers who are not authenticated. */
export const STRANGERS = 'strangers';
/** Tenant name and caller name in the account of the service's own work, and of work that serves several tenants together. */
export const SERVICE = 'service';
const SERVICE_ACCOUNT: Account = { tenant: SERVICE, caller: SERVICE };

// A timer of the connection may keep the account in memory after the request has ended. So the account is a small separate object.
const current = new AsyncLocalStorage<Account>();

/** Runs the work and charges it to the account, together with all asynchronous work that it starts. */
export function chargeTo<T>(account: Account, work: () => T): T {
  return current.run(account, work);
}

/** Runs work that serves several accounts, and charges it to the service's own account. */
export function chargeService<T>(work: () => T): T {
  return chargeTo(SERVICE_ACCOUNT, work);
}

/** Returns the account that pays for the current work. Without an account it returns the service's own account. */
export function currentAccount(): Readonly<Account> {
  return current.getStore() ?? SERVICE_ACCOUNT;
}
