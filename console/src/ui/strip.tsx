import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface StripProps {
  tone?: 'warn' | 'quiet' | 'accent' | 'late';
  children: ReactNode;
  actions?: [words: string, run: () => void][];
}

const GROUNDS = { warn: '--rs-warn-soft', quiet: '--rs-sunken', accent: '--rs-accent-soft', late: '--rs-late' };

/** A line over a screen that says something about all of it. */
export function Strip({ tone = 'warn', children, actions = [] }: StripProps) {
  return (
    <Group
      justify="space-between"
      gap="4px 16px"
      mih={44}
      p="4px 6px 4px 14px"
      fz="sm"
      bg={`var(${GROUNDS[tone]})`}
      style={{ borderRadius: 8, ...(tone === 'late' && { color: 'var(--rs-surface)', fontWeight: 600 }) }}
    >
      <span style={{ paddingBlock: 6 }}>{children}</span>
      <span style={{ marginLeft: -12 }}>
        {actions.map(([words, run]) => (
          <Button key={words} variant="subtle" color="gray" c="inherit" h={44} px={12} onClick={run}>
            {words}
          </Button>
        ))}
      </span>
    </Group>
  );
}
