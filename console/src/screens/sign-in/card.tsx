import type { ReactNode } from 'react';
import icon from '../../icon.svg';
import classes from './card.module.css';

/** Frame of the pages before the sign-in. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={classes.page}>
      <title>{`${title} · Roomservice`}</title>
      <div className={classes.card}>
        <p className={classes.brand}>
          <img src={icon} width={26} height={26} alt="" />
          Roomservice
        </p>
        <h1 className={classes.title}>{title}</h1>
        {children}
      </div>
    </main>
  );
}
