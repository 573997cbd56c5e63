import { isDeepStrictEqual } from 'node:util';
import type { WantedMenu } from './menu-plan.ts';
import type { MenuComparison } from './staff-schema.ts';
import type { StoredDish, StoredMenu } from './stored-menu.ts';

/** Returns what a document changes in the dishes of the stored menu. */
export function compareMenus(stored: StoredMenu, wanted: WantedMenu): MenuComparison {
  const bySku = new Map(stored.dishes.map((dish) => [dish.sku, dish]));
  const moved = movedDishes(stored.dishes, wanted.dishes);
  const compared = wanted.dishes.map((after) => {
    const before = bySku.get(after.sku);
    return { sku: after.sku, before, fields: before === undefined ? [] : changedFields(before, after, moved) };
  });
  const takenOff = [...wanted.dishes, ...wanted.unnamed].filter(
    ({ sku, is_active }) => !is_active && bySku.get(sku)?.is_active === true,
  );
  return {
    added: compared.filter(({ before }) => before === undefined).map(({ sku }) => sku),
    changed: compared.filter(({ fields }) => fields.length > 0).map(({ sku, fields }) => ({ sku, fields })),
    taken_off: takenOff.map(({ sku }) => sku),
  };
}

function changedFields(before: StoredDish, after: StoredDish, moved: ReadonlySet<string>): string[] {
  const { id: _id, position: _position, ...earlier } = before;
  const values = new Map<string, unknown>(Object.entries(after));
  const fields = Object.entries(earlier).filter(([field, value]) => !isDeepStrictEqual(value, values.get(field)));
  return [...fields.map(([field]) => field), ...(moved.has(after.sku) ? ['position'] : [])];
}

/**
 * Returns the skus of the stored dishes that a document moves. All other stored dishes have the same order as before. Often there is more
 * than one choice of moved dishes. For example, if two neighbors change places, either of them can count as moved. The function chooses as
 * few moved dishes as possible. A dish that is added or taken off moves no other dish.
 */
function movedDishes(before: StoredDish[], after: StoredDish[]): Set<string> {
  const ranks = new Map(before.map(({ sku }, rank) => [sku, rank]));
  const kept = after.flatMap(({ sku }) => {
    const rank = ranks.get(sku);
    return rank === undefined ? [] : [{ sku, rank }];
  });
  const inOrder = longestIncreasing(kept.map(({ rank }) => rank));
  return new Set(kept.filter(({ rank }) => !inOrder.has(rank)).map(({ sku }) => sku));
}

/** Returns the numbers of a longest increasing subsequence, by patience sorting. The numbers must differ. */
function longestIncreasing(numbers: number[]): Set<number> {
  /** For each index, the smallest number that ends an increasing subsequence of `index + 1` numbers. */
  const ends: number[] = [];
  /** For each number, its predecessor in the longest increasing subsequence that ends with it. Undefined if there is no predecessor. */
  const previous = new Map<number, number | undefined>();
  for (const number of numbers) {
    const length = countBelow(ends, number);
    previous.set(number, ends[length - 1]);
    ends[length] = number;
  }
  const longest = new Set<number>();
  for (let number = ends.at(-1); number !== undefined; number = previous.get(number)) {
    longest.add(number);
  }
  return longest;
}

/** Returns how many of the ascending numbers are below the limit, by binary search. */
function countBelow(ascending: number[], limit: number): number {
  let [from, until] = [0, ascending.length];
  while (from < until) {
    const middle = Math.floor((from + until) / 2);
    if ((ascending[middle] ?? limit) < limit) {
      from = middle + 1;
    } else {
      until = middle;
    }
  }
  return from;
}
