import { Divider, Group } from '@mantine/core';
import { Fragment } from 'react';
import { useFormat } from '../../ui/format.ts';
import { countOf, type Order } from './statuses.ts';

/** Lines of an order, with the arithmetic that leads to its total. */
export function Sum({ order: { lines, total } }: { order: Order }) {
  const { money } = useFormat();
  const arithmeticOf = ({ quantity, variant, addons, unit_price, extra_tax_percentage }: Order['lines'][number]) => {
    const tax = Number(extra_tax_percentage);
    if (quantity === 1 && variant === null && addons.length === 0 && tax === 0) return null;
    const dish = variant === null ? money(unit_price) : `${variant} ${money(unit_price)}`;
    const extras = addons.map(
      (addon) => `${addon.name.replace(/^\+\s*/, '')} ${countOf(addon.quantity)}${money(addon.price)}`,
    );
    const each = extras.length === 0 ? dish : `(${[dish, ...extras].join(' + ')})`;
    return `${quantity} × ${each}${tax === 0 ? '' : ` + ${tax}% tax`}`;
  };
  return (
    <div>
      {lines.map((line, index) => (
        <Fragment key={index}>
          <Group justify="space-between" wrap="nowrap" fz="sm" fw={600}>
            <span>{`${line.quantity} × ${line.name}`}</span>
            <span>{money(line.total)}</span>
          </Group>
          <p className="quiet">{arithmeticOf(line)}</p>
          <Divider my={8} />
        </Fragment>
      ))}
      <Group justify="space-between" fz="sm" fw={650}>
        <span>Total</span>
        <span>{money(total)}</span>
      </Group>
    </div>
  );
}
