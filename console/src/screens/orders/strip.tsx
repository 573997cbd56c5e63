import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { allowSound, setMuted, type Sound, touch } from './sound.ts';
import classes from './strip.module.css';

interface StripProps {
  tone?: 'warn' | 'quiet' | 'accent';
  children: ReactNode;
  actions?: [words: string, run: () => void][];
}

/** A line over the orders that says something about all of them. */
export function Strip({ tone = 'warn', children, actions = [] }: StripProps) {
  return (
    <div className={classes.strip} data-tone={tone}>
      <span>{children}</span>
      <span>
        {actions.map(([words, run]) => (
          <Button key={words} variant="subtle" color="gray" c="inherit" className={classes.button} onClick={run}>
            {words}
          </Button>
        ))}
      </span>
    </div>
  );
}

/** Says that the browser holds the sound back, or that new orders ring. */
export function SoundStrip({ sound: { isHeldBack, isMuted, ringing } }: { sound: Sound }) {
  if (isHeldBack) {
    return (
      <Strip
        tone="quiet"
        actions={[
          ['Turn the sound on', allowSound],
          ['Keep it silent', () => setMuted(true)],
        ]}
      >
        This browser is silent until you press something once.
      </Strip>
    );
  }
  if (isMuted || ringing.size === 0) return null;
  return (
    <Strip tone="accent" actions={[['Stop ringing', () => touch(...ringing)]]}>
      {ringing.size === 1 ? 'A new order waits.' : `${ringing.size} new orders wait.`} It rings until it is touched.
    </Strip>
  );
}
