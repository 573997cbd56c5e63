import { Box, Drawer, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { Status, type Tone } from './status.tsx';

interface DetailProps {
  title: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}

const COLUMN = { display: 'flex', flexDirection: 'column' } as const;
const LOOKS = { content: COLUMN, body: { ...COLUMN, flex: 1, minHeight: 0, padding: 0 } };

/** Drawer for one thing. What it shows is in the address, so Back closes it and a link opens it. */
export function Detail({ isOpen, onClose, ...content }: DetailProps) {
  // It keeps what it showed while it slides away.
  const last = useRef(content);
  if (isOpen) last.current = content;
  const { title, actions, children } = last.current;
  // Escape answers a question over the drawer, and no more.
  const close = () => document.querySelector('.mantine-Modal-content') === null && onClose();
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      position="right"
      size="min(560px, 100vw)"
      title={<b>{title}</b>}
      styles={LOOKS}
      transitionProps={{ duration: 120 }}
    >
      <Box flex={1} px={16} pt={8} pb={28} tabIndex={0} style={{ overflowY: 'auto' }}>
        {children}
      </Box>
      {actions !== undefined && (
        <Group gap={8} px={16} py={14} style={{ borderTop: '1px solid var(--rs-line)' }}>
          {actions}
        </Group>
      )}
    </Drawer>
  );
}

/** First line of a drawer: the status, and a further word on it. */
export function StatusLine({ tone, label, children }: { tone: Tone; label: string; children?: ReactNode }) {
  return (
    <Group gap={10} mb={12} fz="sm" c="dimmed">
      <Status tone={tone}>{label}</Status>
      {children}
    </Group>
  );
}

interface FactsProps {
  facts: (readonly [label: string, value: ReactNode] | null)[];
  /** The values are amounts, which stand below each other at the right. */
  areAmounts?: boolean;
}

export function Facts({ facts, areAmounts = false }: FactsProps) {
  return (
    <Stack component="dl" gap={10} m={0} py={5} fz="sm">
      {facts
        .filter((fact) => fact !== null)
        .map(([label, value]) => (
          <Group key={label} gap={12} align="flex-start" wrap="nowrap">
            <Text inherit component="dt" flex={areAmounts ? 1 : '0 0 128px'} c="dimmed">
              {label}
            </Text>
            <Text inherit component="dd" flex={areAmounts ? 'none' : 1} miw={0} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Group>
        ))}
    </Stack>
  );
}
