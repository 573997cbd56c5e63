import type { ReactNode } from 'react';
import classes from './empty.module.css';

/** An empty list: why it is empty, and the one thing to do. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <p className={classes.title}>{title}</p>
      {children !== undefined && <p className={classes.text}>{children}</p>}
      {action}
    </div>
  );
}
