import { Group, Text } from '@mantine/core';
import type { CSSProperties, ReactNode } from 'react';

export type Tone = 'accent' | 'good' | 'warn' | 'late' | 'quiet';

function coloursOf(tone: Tone) {
  return { bg: `var(--rs-${tone === 'quiet' ? 'sunken' : `${tone}-soft`})`, c: `var(--rs-${tone})` };
}

const ROUND = { borderRadius: '50%' };
const MARKS: Record<Tone, CSSProperties> = {
  accent: ROUND,
  good: ROUND,
  warn: { borderRadius: 1, rotate: '45deg' },
  late: { borderRadius: 1 },
  quiet: { ...ROUND, border: '1.5px solid', background: 'transparent' },
};
const PILL = {
  display: 'inline-flex',
  whiteSpace: 'nowrap',
  borderRadius: 99,
  lineHeight: 1.5,
  verticalAlign: 'top',
} as const;

/** Word for a status, with a colour and a shape of its own, so that the colour alone says nothing. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Group component="span" wrap="nowrap" gap={6} px={8} py={1} fz="0.93em" fw={550} {...coloursOf(tone)} style={PILL}>
      <span style={{ width: 7, height: 7, background: 'currentcolor', ...MARKS[tone] }} aria-hidden="true" />
      {children}
    </Group>
  );
}

/** A sentence that should not be overlooked. `role`: `alert` if it appears after a press. */
export function Note({ role, children }: { role?: 'alert'; children: ReactNode }) {
  return (
    <Text component="p" role={role} my={12} px={12} py={10} bdrs={8} fz="sm" {...coloursOf('warn')}>
      {children}
    </Text>
  );
}
