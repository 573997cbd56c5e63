import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Tenant and caller to whom work is charged. Fair queues and bounds use the account to share memory, connections and time of the event loop
 * fairly. A request begins with the account of unauthenticated callers (`STRANGERS`). The authentication changes the fields of this object,
 * so that it names the tenant and the caller.
 */
export interface Account {
  tenant: string;
  /**
   * Id of the tenant's credential or user that makes the call. If a call has a channel key and its signature is not verified yet, this is
   * the id of the channel. For other unauthenticated callers, it may be the network of the client's address. Empty until the caller is
   * known.
   */
  caller: string;
  /**
   * Id of the tenant that an unauthenticated caller names, for example in its API key. This id only decides which node of a database
   * cluster runs the statements of the call. The work is not charged to this tenant.
   */
  namedTenant?: string;
}

/** Name that takes the place of the tenant in the account of every unauthenticated caller. */
export const STRANGERS = 'strangers';
/**
 * Name that takes the place of the tenant and of the caller in the account of the service itself. The service charges its own work and work
 * for several tenants to this account.
 */
export const SERVICE = 'service';
export const SERVICE_ACCOUNT: Account = { tenant: SERVICE, caller: SERVICE };

// An account has no reference to its request, because a timer of the connection may keep the account in memory after the request has ended.
// The reference would then keep the whole request in memory.
const current = new AsyncLocalStorage<Account>();

/** Runs the work. Charges it, and all asynchronous work that it starts, to the account. */
export function chargeTo<T>(account: Account, work: () => T): T {
  return current.run(account, work);
}

/** Runs work that serves several accounts together, and charges it to the service's own account. */
export function chargeService<T>(work: () => T): T {
  return chargeTo(SERVICE_ACCOUNT, work);
}

/**
 * Runs work for a call that names a tenant but is not authenticated yet. For example, each API key contains the id of a tenant. The work is
 * charged to the account of the caller, and not to the named tenant.
 */
export function askAbout<T>(tenantId: number, work: () => T): T {
  return chargeTo({ ...currentAccount(), namedTenant: String(tenantId) }, work);
}

/** Returns the account to which the current work is charged. If no account was set, returns the service's own account. */
export function currentAccount(): Readonly<Account> {
  return current.getStore() ?? SERVICE_ACCOUNT;
}
