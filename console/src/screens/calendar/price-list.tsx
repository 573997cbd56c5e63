import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { formatDate, weekday } from '../../ui/format.ts';
import classes from './price-list.module.css';
import type { Row } from './rows.tsx';

/** Number of nights that fit the width of a sheet. */
const NIGHTS_A_TABLE = 14;

/** The prices of the calendar on paper, two weeks a table. It is part of the page only while it is printed. */
export function PriceList({ rows, dates }: { rows: Row[]; dates: string[] }) {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  const starts = isPrinting ? dates.flatMap((_, index) => (index % NIGHTS_A_TABLE === 0 ? [index] : [])) : [];
  return starts.map((start) => (
    <PriceTable key={start} rows={rows} dates={dates.slice(start, start + NIGHTS_A_TABLE)} start={start} />
  ));
}

function PriceTable({ rows, dates, start }: { rows: Row[]; dates: string[]; start: number }) {
  return (
    <table className={`${classes.table} on-paper`} aria-label={`Prices from ${formatDate(dates[0] ?? '')}`}>
      <thead>
        <tr>
          <th />
          {dates.map((date) => (
            <th key={date}>
              {weekday.format(new Date(date))}
              <br />
              {formatDate(date)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ type, plan, name, values }) =>
          plan === null ? (
            <tr key={type.id}>
              <th colSpan={dates.length + 1}>{name}</th>
            </tr>
          ) : (
            <tr key={plan.id}>
              <td>{name}</td>
              {dates.map((date, index) => {
                const night = values[start + index];
                return <td key={date}>{night?.is_sold_out ? 'closed' : (night?.price ?? plan.base_price)}</td>;
              })}
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
