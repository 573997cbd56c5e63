import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Tenant and caller to whom a piece of work is charged. Fair queues and bounds use the account to share memory, connections and time of
 * the event loop fairly. A request begins with the account of unauthenticated callers (`STRANGERS`). Authentication then changes this
 * object in place.
 */
export interface Account {
  tenant: string;
  /**
   * Id of the tenant's credential or user that makes the call. For an unauthenticated caller, the id of the channel, or the network of the
   * client's address. Empty until the caller is known.
   */
  caller: string;
  /**
   * Id of the tenant that an unauthenticated caller names, for example in its API key. This id only decides which node of a cluster runs
   * the statements of the call. The work is not charged to this tenant.
   */
  namedTenant?: string;
}

/** Tenant name that the account of every unauthenticated caller has. */
export const STRANGERS = 'strangers';
/**
 * Name that the account of the service itself has as tenant and as caller. The service charges its own work and work for several tenants to
 * this account.
 */
export const SERVICE = 'service';
export const SERVICE_ACCOUNT: Account = { tenant: SERVICE, caller: SERVICE };

// An account does not refer to its request, because a timer of the connection may keep the current account in memory after the request has
// ended. With such a reference, the timer would keep the whole request in memory.
const current = new AsyncLocalStorage<Account>();

/** Runs the work. Charges it, and all asynchronous work that it starts, to the account. */
export function chargeTo<T>(account: Account, work: () => T): T {
  return current.run(account, work);
}

/** Runs work that serves several accounts together, and charges it to the service's own account. */
export function chargeService<T>(work: () => T): T {
  return chargeTo(SERVICE_ACCOUNT, work);
}

/** Runs work about a tenant that an unauthenticated caller names. Charges the work to the caller, and not to this tenant. */
export function askAbout<T>(tenantId: number, work: () => T): T {
  return chargeTo({ ...currentAccount(), namedTenant: String(tenantId) }, work);
}

/** Returns the account to which the current work is charged. If no account was set, returns the service's own account. */
export function currentAccount(): Readonly<Account> {
  return current.getStore() ?? SERVICE_ACCOUNT;
}
