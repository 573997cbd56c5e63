import type { CSSProperties, ReactNode } from 'react';
import classes from './status.module.css';

export type Tone = 'accent' | 'good' | 'warn' | 'late' | 'quiet';

function coloursOf(tone: Tone) {
  return { background: `var(--rs-${tone === 'quiet' ? 'sunken' : `${tone}-soft`})`, color: `var(--rs-${tone})` };
}

const ROUND = { borderRadius: '50%' };
const MARKS: Record<Tone, CSSProperties> = {
  accent: ROUND,
  good: ROUND,
  warn: { borderRadius: 1, rotate: '45deg' },
  late: { borderRadius: 1 },
  quiet: { ...ROUND, border: '1.5px solid', background: 'transparent' },
};

/** Word for a status, with a colour and a shape of its own, so that the colour alone says nothing. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.status} style={coloursOf(tone)}>
      <span style={{ width: 7, height: 7, background: 'currentcolor', ...MARKS[tone] }} aria-hidden="true" />
      {children}
    </span>
  );
}

/** A sentence that should not be overlooked. `role`: `alert` if it appears after a press. */
export function Note({ role, children }: { role?: 'alert'; children: ReactNode }) {
  return (
    <p className={classes.note} style={coloursOf('warn')} role={role}>
      {children}
    </p>
  );
}
