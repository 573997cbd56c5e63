import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Who the cost of a piece of work is charged to: bytes, connections and turns are shared out by it. The account of a request
 * changes in place when a stranger turns out to be a caller.
 */
export interface Account {
  tenant: string;
  /** The credential or the person within the tenant; of a stranger the channel or the network of the address, once that is known. */
  caller: string;
}

/** The account of everybody who has not been authenticated. */
export const STRANGERS = 'strangers';
/** The account of what the service does on its own, and of work for several tenants at once. */
export const SERVICE = 'service';
const SERVICE_ACCOUNT: Account = { tenant: SERVICE, caller: SERVICE };

// What holds the account may outlive the request, such as a timer of its connection. So it is an object of its own, and small.
const current = new AsyncLocalStorage<Account>();

/** Runs the work, and whatever it starts, at the expense of the account. */
export function chargeTo<T>(account: Account, work: () => T): T {
  return current.run(account, work);
}

/** Runs work that serves several accounts at the service's own expense. */
export function chargeService<T>(work: () => T): T {
  return chargeTo(SERVICE_ACCOUNT, work);
}

/** The account that the present work is charged to. */
export function currentAccount(): Readonly<Account> {
  return current.getStore() ?? SERVICE_ACCOUNT;
}
