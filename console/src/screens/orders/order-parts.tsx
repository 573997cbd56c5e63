import type { ReactNode } from 'react';
import { useFormat } from '../../ui/format.ts';
import classes from './drawer.module.css';
import type { Order } from './statuses.ts';

/** Lines of an order, with the arithmetic that leads to its total. */
export function Sum({ order: { lines, total } }: { order: Order }) {
  const { money } = useFormat();
  return (
    <table className={classes.sum}>
      <thead className="visually-hidden">
        <tr>
          <th>Dish</th>
          <th>Price</th>
          <th>Total</th>
        </tr>
      </thead>
      {lines.map(
        ({ quantity, name, variant, addons, unit_price: price, extra_tax_percentage: tax, ...line }, index) => (
          <tbody key={index}>
            <Row
              strong
              what={`${quantity} × ${name}`}
              price={`${quantity} × ${money(each(price, addons))}${Number(tax) === 0 ? '' : ` + ${Number(tax)} % tax`}`}
              total={money(line.total)}
            />
            {(variant !== null || addons.length > 0) && (
              <Row what={variant === null ? 'Dish' : variant} price={money(price)} />
            )}
            {addons.map((addon) => (
              <Row
                key={addon.name}
                what={`+ ${addon.name.replace(/^\+\s*/, '')}`}
                price={addon.quantity > 1 ? `${addon.quantity} × ${money(addon.price)}` : money(addon.price)}
              />
            ))}
          </tbody>
        ),
      )}
      <tfoot>
        <tr>
          <td colSpan={2}>Total</td>
          <td>{money(total)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

/** Price of one piece with its add-ons. Hundredths are whole numbers, so nothing is rounded. */
function each(price: string, addons: Order['lines'][number]['addons']): string {
  const hundredths = addons.reduce(
    (sum, addon) => sum + Math.round(Number(addon.price) * 100) * addon.quantity,
    Math.round(Number(price) * 100),
  );
  return (hundredths / 100).toFixed(2);
}

function Row({
  what,
  price,
  total,
  strong = false,
}: {
  what: string;
  price: string;
  total?: ReactNode;
  strong?: boolean;
}) {
  return (
    <tr data-strong={strong || undefined}>
      <td>{what}</td>
      <td>{price}</td>
      <td>{total}</td>
    </tr>
  );
}
