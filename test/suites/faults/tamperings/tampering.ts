import type { World } from '../world.ts';

/** A deliberate damage to rows of the database or to records of the suite. An invariant must find it. */
export interface Tampering {
  name: string;
  /** Name of the guarantee that the damage breaks. The invariants must report that this guarantee is broken. */
  breaks: string;
  /**
   * Damages rows of the database or records of the suite.
   * @param fromMs Unix time in milliseconds at which the clients began to send calls
   * @returns a function that repairs the damage
   */
  spoil(world: World, fromMs: number): Promise<() => unknown>;
}

/**
 * Returns a tampering that changes one row by `statement` and repairs the row by `undoing`. Both statements get the values that `choose`
 * returns.
 */
export function byStatement(
  name: string,
  breaks: string,
  choose: (world: World) => Promise<unknown[]> | unknown[],
  statement: string,
  undoing: string,
): Tampering {
  return {
    name,
    breaks,
    async spoil(world) {
      const values = await choose(world);
      await world.postgres.query(statement, values);
      return async () => await world.postgres.query(undoing, values);
    },
  };
}

/**
 * Returns the first element of a list.
 * @param what names the elements in the error message
 * @throws Error if the list is empty
 */
export function first<T>(list: readonly T[], what: string): T {
  const [found] = list;
  if (found === undefined) {
    throw new Error(`The run has no ${what} for the tampering. Let the load run longer.`);
  }
  return found;
}
