import type { MenuDocument } from '#restaurant/menu/schema.ts';
import type { Call } from './call.ts';
import type { Pace } from './hog.ts';
import type { BudgetTenant } from './house.ts';

/**
 * Calls that a tenant may make with one credential and one token of its staff. They must not slow down other tenants.
 */
export interface BudgetCase {
  name: string;
  /** Description for the report. */
  what: string;
  /** Returns the menu of the tenant. By default the menu is a long one. */
  menu?: () => MenuDocument;
  /** Pace of the calls. By default 200 concurrent calls and then 100 more at 10 per second. */
  pace?: Pace;
  /** True if the short form of the family includes the case. */
  isShort?: boolean;
  /** Maximum heap of the measured process, in MiB. By default V8 chooses it. */
  heapMiB?: number;
  /**
   * True if the calls are not sent one by one before the measurement, because they take very long, or because the first
   * call matters.
   */
  isUnrehearsed?: boolean;
  /** Fills the tenant with data. Returns the calls that the busy tenant makes in turn. */
  prepare(tenant: BudgetTenant): Promise<Call[]>;
}

/** Number of calls that one credential may make in a minute. */
export const BUDGET = 300;
export const USUAL_PACE: Pace = { atOnce: 200, after: 100, perSecond: 10 };

export function json(name: string, who: Call['who'], method: string, path: string, value: unknown): Call {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { name, who, method, path, type: 'application/json', body: Buffer.from(text) };
}

export function get(who: Call['who'], path: string): Call {
  return { name: `GET ${path}`, who, method: 'GET', path };
}
