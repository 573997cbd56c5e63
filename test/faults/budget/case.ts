import type { MenuDocument } from '#restaurant/menu/schema.ts';
import type { Call } from './call.ts';
import type { Pace } from './hog.ts';
import type { House } from './house.ts';

/** What a tenant may do with one credential and one token of its staff, and is not to be noticed for. */
export interface BudgetCase {
  name: string;
  what: string;
  /** Of the tenant; a long one where nothing is said. */
  menu?: () => MenuDocument;
  /** 300 calls, most of them at once, where nothing is said. */
  pace?: Pace;
  /** Part of the short form. */
  isShort?: boolean;
  /** Of the measured process; null or nothing: what V8 takes by itself. */
  heapMiB?: number;
  /** Whether its calls are not sent alone before: they take as long as their callers like, or the first one is what matters. */
  isUnrehearsed?: boolean;
  /** Furnishes the house, and says what it is called with, in turn. */
  prepare(house: House): Promise<Call[]>;
}

/** What one credential may do in a minute. */
export const BUDGET = 300;
export const USUAL_PACE: Pace = { atOnce: 200, after: 100, perSecond: 10 };

export function json(name: string, who: Call['who'], method: string, path: string, value: unknown): Call {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { name, who, method, path, type: 'application/json', body: Buffer.from(text) };
}

export function get(who: Call['who'], path: string): Call {
  return { name: `GET ${path}`, who, method: 'GET', path };
}
