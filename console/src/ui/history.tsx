import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useNow } from '../live/clock.ts';
import { formatAge, useFormat } from './format.ts';
import { Waiting } from './loaded.tsx';

/** How long ago something was, kept up to date, or a word for what has never been. */
export function Ago({ at, never = 'never' }: { at: string | null; never?: string }) {
  const now = useNow(10_000);
  return <>{at === null ? never : `${formatAge(now - Date.parse(at))} ago`}</>;
}

type Actor = Pick<Answer<'getNight'>['history'][number]['by'], 'type' | 'name'>;

export interface Step {
  label: string;
  at: string;
  by: Actor;
  reason?: string | null;
}

const BY: Record<Actor['type'], string> = {
  sandbox: 'the simulated staff',
  operator: 'an operator',
  partner: 'the partner',
  display: 'a display',
  channel: 'a channel',
  person: 'somebody',
};

export function History({ steps }: { steps: Step[] | undefined }) {
  if (steps === undefined) return <Waiting rows={2} />;
  return (
    <Moments>
      {steps.map(({ label, at, by, reason }, index) => (
        <Moment key={index} label={label} at={at}>
          <span className="quiet">by {by.name || BY[by.type]}</span>
          {reason && <span style={{ order: 1, flexBasis: '100%', overflowWrap: 'anywhere' }}>{reason}</span>}
        </Moment>
      ))}
    </Moments>
  );
}

export function Moments({ children }: { children: ReactNode }) {
  return (
    <Stack component="ol" gap={8} m={0} p={0} fz="sm">
      {children}
    </Stack>
  );
}

export function Moment({ label, at, children }: { label: ReactNode; at: string; children: ReactNode }) {
  const now = useNow(60_000);
  const { moment } = useFormat();
  return (
    <Group component="li" gap="2px 10px">
      <Text inherit span fw={600} miw={92}>
        {label}
      </Text>
      {children}
      <time dateTime={at} className="quiet" style={{ marginLeft: 'auto' }}>
        {moment(at, now)}
      </time>
    </Group>
  );
}

/** Says who was quicker than the person at this screen. */
export function whoWasFirst(by: Actor | undefined): string {
  const other = by === undefined ? 'somebody else' : BY[by.type];
  return `${by?.name || `${other[0]?.toUpperCase()}${other.slice(1)}`} was first.`;
}
