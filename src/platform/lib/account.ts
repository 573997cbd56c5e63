import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Tenant and caller for whom the service does some work. To charge work to an account means to count the work for this tenant and this
 * caller. Fair queues and bounds use these counts to share memory, connections and time of the event loop fairly. A request begins with the
 * account of unauthenticated callers (`STRANGERS`). The authentication changes the fields of this object, so that it names the tenant and
 * the caller.
 */
export interface Account {
  tenant: string;
  /**
   * Id of the tenant's credential or user that makes the call. Until the caller is known, this field is empty, except in these cases:
   * - In a call with a channel key, the field is the id of the channel, even before the signature of the call is verified.
   * - The bytes of a request body are charged to a copy of the account. In this copy, the field is the network of the client's address.
   * - Some tokens are looked up in the database: the token of a session, and the token of a link with which a person sets a password. The
   *   query is charged to a separate account. In this account, the field is a hash of the token.
   */
  caller: string;
  /**
   * Id of the tenant that an unauthenticated caller names, for example in its API key. This id only decides which node of a database
   * cluster runs the statements of the call. The work is not charged to this tenant.
   */
  namedTenant?: string;
}

/** Value of `Account.tenant` for all callers that are not authenticated. It takes the place of the tenant's id. */
export const STRANGERS = 'strangers';
/**
 * Value of `Account.tenant` and `Account.caller` for work that the service does for several tenants together or for itself. If the service
 * does background work for one tenant, `tenant` is the id of this tenant, and only `caller` has this value.
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
 * Runs work for a call that is not authenticated yet, but names a tenant. For example, the API key of the call contains the id of the
 * tenant. On a database cluster, the statements of the work run on the node of this tenant. The work is still charged to the account of the
 * caller.
 */
export function askAbout<T>(tenantId: number, work: () => T): T {
  return chargeTo({ ...currentAccount(), namedTenant: String(tenantId) }, work);
}

/**
 * Returns the tenant and the caller for whom the current code runs. If no account was set, returns the account of the service itself.
 * Work that is not for one tenant counts for that account.
 */
export function currentAccount(): Readonly<Account> {
  return current.getStore() ?? SERVICE_ACCOUNT;
}
