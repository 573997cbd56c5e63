import type { World } from '../world.ts';

/** A deliberate damage to rows of the database or to records of the suite. An invariant must find it. */
export interface Tampering {
  name: string;
  /** Name of the guarantee that the damage breaks. */
  breaks: string;
  /**
   * Does the damage.
   * @param fromMs Unix time in milliseconds at which the clients began to send calls
   * @returns a function that repairs the damage
   */
  spoil: (world: World, fromMs: number) => Promise<() => unknown>;
}

/** Returns the first element of a list. `what` names the elements in the error message. */
export function first<T>(list: readonly T[], what: string): T {
  const [found] = list;
  if (found === undefined) {
    throw new Error(`The run has no ${what} for the tampering. Let the load run longer.`);
  }
  return found;
}
