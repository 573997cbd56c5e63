import { notifications } from '@mantine/notifications';
import { type Answer, call } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { read } from '../api/reads.ts';
import { sendWhenBack } from '../live/held-write.ts';
import { amountOf, plural, TYPE_PRICE } from './format.ts';
import { showUndo } from './undo-notice.tsx';

export type Menu = Answer<'getMenuDocument'>;
export type Dish = Menu['dishes'][number];

export function isOn(dish: Dish): boolean {
  return dish.is_active !== false;
}

/** The whole menu, also the dishes that are off it. */
export const menuQuery = read('getMenuDocument', {}, ['menu']);

/** Puts dishes on the menu or takes them off, at once on the screen, and offers the way back. */
export async function changeAvailability(dishes: readonly Dish[], isActive: boolean): Promise<void> {
  const changing = dishes.filter((dish) => isOn(dish) !== isActive);
  const [first] = changing;
  if (first === undefined) return;
  const skus = changing.map(({ sku }) => sku);
  const what = changing.length === 1 ? first.name : plural(changing.length, 'dish', 'dishes');
  const is = changing.length === 1 ? 'is' : 'are';
  await showDishes(skus, { is_active: isActive });
  try {
    await sendWhenBack(() => call('changeAvailability', { body: { skus, is_active: isActive } }));
    // A read that began before the change may have come meanwhile.
    await showDishes(skus, { is_active: isActive });
    showUndo(
      `${what} ${is} ${isActive ? 'on' : 'off'} the menu`,
      isActive ? 'Partners can order again.' : 'New orders are refused. Orders on the board stay.',
      () => void changeAvailability(dishesNow(skus), !isActive),
    );
  } catch (error) {
    notifications.show({ title: `${what} ${is} as before`, message: (error as Error).message, color: 'red' });
  }
  await queryClient.invalidateQueries({ queryKey: menuQuery.queryKey });
}

/** Gives a dish the price that was typed, and offers the way back. @returns false if nothing is changed */
export async function changePrice(dish: Dish, typed: string, money: (amount: string) => string): Promise<boolean> {
  const { sku, name } = dish;
  try {
    const price = amountOf(typed);
    if (price === null) throw new Error(`“${typed}” is no price. ${TYPE_PRICE}`);
    if (price === dish.price) return false;
    const changed = await sendWhenBack(() => call('changeDish', { path: { sku }, body: { price } }));
    await showDishes([sku], { price: changed.price });
    const undo = () => {
      const [now] = dishesNow([sku]);
      if (now?.price === changed.price) {
        void changePrice(now, dish.price, money);
      } else {
        notifications.show({ title: `${name} was not changed`, message: 'Somebody has changed the price meanwhile.' });
      }
    };
    showUndo(`${name} costs ${money(changed.price)}`, `It was ${money(dish.price)}.`, undo);
    return true;
  } catch (error) {
    notifications.show({ title: `${name} costs as before`, message: (error as Error).message, color: 'red' });
    return false;
  }
}

function dishesNow(skus: readonly string[]): Dish[] {
  return queryClient.getQueryData(menuQuery.queryKey)?.dishes.filter(({ sku }) => skus.includes(sku)) ?? [];
}

async function showDishes(skus: readonly string[], change: Partial<Dish>): Promise<void> {
  const named = new Set(skus);
  // A read that is under way may bring what was before, and puts that back when it is cancelled.
  await queryClient.cancelQueries({ queryKey: menuQuery.queryKey });
  queryClient.setQueryData(
    menuQuery.queryKey,
    (menu) =>
      menu && { ...menu, dishes: menu.dishes.map((dish) => (named.has(dish.sku) ? { ...dish, ...change } : dish)) },
  );
}
