import { Button, Input, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure, useTimeout } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Refused, Unreachable } from '../api/client.ts';
import { Note } from './status.tsx';

export interface EmptyProps {
  title: string;
  /** The same as children, for lists that name their words as data. */
  text?: ReactNode;
  action?: ReactNode;
  children?: ReactNode;
}

const FRAME = { border: '1px dashed var(--rs-line-strong)', borderRadius: 10, textAlign: 'center' } as const;

/** An empty list: why it is empty, and the one thing to do. */
export function Empty({ title, text, action, children = text }: EmptyProps) {
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

export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div role="alert">
      <Empty
        title={titleOf(error)}
        action={
          retry && (
            <Button variant="default" onClick={retry}>
              Try again
            </Button>
          )
        }
      >
        {error.message}
        {error instanceof Refused && error.requestId !== null && <> Request {error.requestId}.</>}
      </Empty>
    </div>
  );
}

export function Refusal({ children }: { children: string | null | undefined }) {
  if (!children) return null;
  return (
    <Input.Error role="alert" size="sm" mt="sm">
      {children}
    </Input.Error>
  );
}

function titleOf(error: Error): string {
  if (error instanceof Unreachable) return 'No connection';
  if (error instanceof Refused && error.status === 403) return 'Not for you';
  if (error instanceof Refused && error.status === 404) return 'Not found';
  return 'That did not work';
}

export interface Query<Data> {
  data: Data | undefined;
  error: Error | null;
  refetch: () => unknown;
}

interface LoadedProps<Data> {
  query: Query<Data>;
  rows?: number;
  children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ query: { data, error, refetch }, rows, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data);
  return error === null ? <Waiting rows={rows} /> : <Failure error={error} retry={() => void refetch()} />;
}

/** Says why something does not come, and that nobody has to do anything, if it has not come after some seconds. */
export function Away() {
  const [isLong, { open }] = useDisclosure();
  useTimeout(open, 3_000, { autoInvoke: true });
  return (
    isLong && <Note>Roomservice does not answer. This comes by itself when it does, and what you type stays.</Note>
  );
}

/** Skeleton of a list that is not known yet. It appears after 150 ms, so a quick answer does not flicker. */
export function Waiting({ rows = 6 }: { rows?: number | undefined }) {
  const [isShown, { open }] = useDisclosure();
  useTimeout(open, 150, { autoInvoke: true });
  if (!isShown) return null;
  return (
    <div role="status" aria-label="Loading">
      <Away />
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={40} mb={8} />
      ))}
    </div>
  );
}
