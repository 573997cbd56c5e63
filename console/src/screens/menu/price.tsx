import { type FocusEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { changePrice, type Dish } from '../../ui/dishes.ts';
import { useFormat } from '../../ui/format.ts';
import { focusInRow } from '../../ui/row-keys.ts';
import classes from './menu.module.css';

/** Price of a dish, changed in place: type, Enter. Esc leaves it as it is. */
export function Price({ dish }: { dish: Dish }) {
  const { money } = useFormat();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = dish.price;
  }, [dish.price]);
  const leave = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    if (event.key === 'Escape') event.currentTarget.value = dish.price;
    focusInRow('button');
  };
  // The keyboard of a phone may have no Enter, only a key that takes the focus away.
  const save = async ({ currentTarget: input }: FocusEvent<HTMLInputElement>) => {
    const isInOtherWindow = document.activeElement === input;
    const price = input.value.trim().replace(',', '.');
    if (isInOtherWindow) return;
    const isSame = price === '' || Number(price) === Number(dish.price);
    if (isSame || !(await changePrice(dish, price, money))) input.value = dish.price;
  };
  return (
    <input
      ref={field}
      className={classes.price}
      aria-label={`Price of ${dish.name}`}
      inputMode="decimal"
      autoComplete="off"
      defaultValue={dish.price}
      onFocus={(event) => event.currentTarget.select()}
      onKeyDown={leave}
      onBlur={(event) => void save(event)}
    />
  );
}
