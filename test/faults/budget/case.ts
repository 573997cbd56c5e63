import type { MenuDocument } from '#restaurant/menu/schema.ts';
import type { Call } from './call.ts';
import type { Pace } from './hog.ts';
import type { BudgetTenant } from './house.ts';

/**
 * Test case in which one busy tenant makes expensive calls within its budget, with one credential and one staff token. These calls must not
 * slow down other tenants.
 */
export interface BudgetCase {
  name: string;
  /** Description of the case for the report. */
  what: string;
  /** Returns the menu of the tenant. If missing, the tenant gets a long menu. */
  menu?: () => MenuDocument;
  /** Rate of the calls. By default, 200 calls at the same time, and then 100 calls at 10 per second. */
  pace?: Pace;
  /** True if a run with `--short` includes the case. */
  isShort?: boolean;
  /** Maximum heap size of the measured process, in MiB. If missing, V8 chooses the maximum. */
  heapMiB?: number;
  /**
   * True if the case has no warm-up, because its calls are very slow, or because it must measure the very first call. A warm-up sends each
   * call once before the measurement, one call at a time.
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
