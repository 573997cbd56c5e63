import type { World } from '../world.ts';

/** Something spoilt behind the service's back. */
export interface Tampering {
  name: string;
  /** The promise that must be found broken. */
  breaks: string;
  /** @returns what puts it right again */
  spoil(world: World, fromMs: number): Promise<() => unknown>;
}

/** Changes one row by one statement; the second statement undoes it. Both get the same values. */
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

/** The first of a list that must not be empty. */
export function first<T>(list: readonly T[], what: string): T {
  const [found] = list;
  if (found === undefined) {
    throw new Error(`there is no ${what} to spoil`);
  }
  return found;
}
