import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

const FRAME = { border: '1px dashed var(--rs-line-strong)', borderRadius: 10, textAlign: 'center' } as const;

/** An empty list: why it is empty, and the one thing to do. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap={6} px={24} py={44} style={FRAME}>
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text c="dimmed" maw="52ch" mb={8}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
