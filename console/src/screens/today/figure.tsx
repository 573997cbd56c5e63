import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './figure.module.css';

/** A longer value is shown smaller, so that it fits. */
const LONG = 10;

interface Props {
  label: string;
  value: string;
  /** A further word on the figure, below it. */
  note?: string | undefined;
  isLate?: boolean;
  /** The list that the figure counts. */
  link: LinkProps;
}

/** A number with its name, which leads to the list behind it. */
export function Figure({ label, value, note, isLate = false, link }: Props) {
  return (
    <Link {...link} className={classes.figure} data-late={isLate || undefined}>
      <span className={classes.label}>{label}</span>
      <span className={classes.value} data-long={value.length > LONG || undefined}>
        {value}
      </span>
      <span className={classes.note}>{note}</span>
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
