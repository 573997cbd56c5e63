import { Facts } from '../../ui/detail.tsx';
import { addDays, formatDate, useFormat } from '../../ui/format.ts';

interface Props {
  /** Null: the prices of the nights are not known. */
  nights: { date: string; price: string }[] | null;
  total: string;
}

/** Nights with prices and total. Nights in a row that cost the same stand in one line. */
export function NightPrices({ nights, total }: Props) {
  const { money } = useFormat();
  const runs: { date: string; price: string; count: number }[] = [];
  for (const night of nights ?? []) {
    const last = runs.at(-1);
    if (last?.price === night.price) last.count += 1;
    else runs.push({ ...night, count: 1 });
  }
  return (
    <Facts
      facts={[
        ...runs.map(({ date, price, count }) =>
          count === 1
            ? ([formatDate(date, 'weekday'), money(price)] as const)
            : ([`${formatDate(date)} – ${formatDate(addDays(date, count))}`, `${count} × ${money(price)}`] as const),
        ),
        ['Total', <strong>{money(total)}</strong>],
      ]}
    />
  );
}
