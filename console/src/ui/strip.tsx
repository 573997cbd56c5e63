import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './strip.module.css';

interface StripProps {
  tone?: 'warn' | 'quiet' | 'accent' | 'late';
  children: ReactNode;
  actions?: [words: string, run: () => void][];
}

/** A line over a screen that says something about all of it. */
export function Strip({ tone = 'warn', children, actions = [] }: StripProps) {
  return (
    <div className={classes.strip} data-tone={tone}>
      <span>{children}</span>
      <span>
        {actions.map(([words, run]) => (
          <Button key={words} variant="subtle" color="gray" c="inherit" h={44} px={12} onClick={run}>
            {words}
          </Button>
        ))}
      </span>
    </div>
  );
}
