import type { ReactNode } from 'react';
import classes from './note.module.css';

/** A sentence that should not be overlooked. `role`: `alert` if it appears after a press. */
export function Note({ role, children }: { role?: 'alert'; children: ReactNode }) {
  return (
    <p className={classes.note} role={role}>
      {children}
    </p>
  );
}
