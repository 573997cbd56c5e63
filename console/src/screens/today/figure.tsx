import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OrdersSearch } from '../orders/search.ts';
import classes from './figure.module.css';

/** A longer value is shown smaller, so that it fits. */
const LONG = 10;

interface Props {
  label: string;
  value: string;
  /** A further word on the figure, below it. */
  note?: string | undefined;
  isLate?: boolean;
  /** Filters of the list of orders that the figure counts. Left out: the figure leads nowhere. */
  orders?: OrdersSearch;
}

/** A number with its name, which leads to the list behind it. */
export function Figure({ label, value, note, isLate = false, orders }: Props) {
  const content = (
    <>
      <span className={classes.label}>{label}</span>
      <span className={classes.value} data-long={value.length > LONG || undefined}>
        {value}
      </span>
      <span className={classes.note}>{note}</span>
    </>
  );
  return orders === undefined ? (
    <div className={classes.figure}>{content}</div>
  ) : (
    <Link to="/orders" search={orders} className={classes.figure} data-late={isLate || undefined}>
      {content}
    </Link>
  );
}

/** Figures in a row. On a phone, four of them stand two by two. */
export function Figures({ children }: { children: ReactNode[] }) {
  return (
    <div className={classes.figures} data-count={children.length}>
      {children}
    </div>
  );
}
