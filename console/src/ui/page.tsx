import { Box, Button, Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMe } from '../api/session.ts';
import { useConnection } from '../live/live.ts';
import { useCommands } from './commands.ts';
import { useFormat } from './format.ts';
import { PlusIcon, PrintIcon } from './icons.tsx';
import classes from './page.module.css';

interface PageProps {
  title: string;
  /** One primary action of the screen, and at most a few quiet ones before it. */
  actions?: ReactNode;
  filters?: ReactNode;
  /** Says how old the screen is. Left out on screens that do not follow live changes. */
  isLive?: boolean;
  /** The content takes the whole width and height, for the board and the calendar. */
  isWide?: boolean;
  children: ReactNode;
}

export function Page({ title, actions, filters, isLive = false, isWide = false, children }: PageProps) {
  const house = useMe().tenant.name;
  return (
    <div className={classes.page} data-wide={isWide || undefined}>
      <title>{`${title} · Roomservice`}</title>
      <p className="on-paper">{house}</p>
      <Group component="header" justify="space-between" gap="0 8px">
        <Group gap={10} mih={44}>
          <Title fz={{ base: '1.25rem', sm: '1.375rem' }} lts="-0.01em">
            {title}
          </Title>
          {isLive && <ConnectionState />}
        </Group>
        <Group gap={8} className="off-paper">
          {actions}
        </Group>
      </Group>
      {filters !== undefined && (
        <Group gap={8} mt="sm" className={`${classes.filters} off-paper`}>
          {filters}
        </Group>
      )}
      <Box mt="md" flex={1} mih={0}>
        {children}
      </Box>
    </div>
  );
}

export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <Group justify="space-between" align="baseline" gap={12} mb={10}>
        <Title order={2} fz="md">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </section>
  );
}

interface NewButtonProps {
  label: string;
  group: string;
  onPress: () => void;
}

/** Primary action of a screen that adds something, also by the key `n`. */
export function NewButton({ label, group, onPress }: NewButtonProps) {
  useCommands(group, [['n', label, onPress]]);
  return (
    <Button pr="md" leftSection={<PlusIcon size={16} />} onClick={onPress}>
      {label}
    </Button>
  );
}

/** Prints the screen, by its print styles. A phone prints by its own menu. */
export function PrintButton() {
  return (
    <Button variant="default" visibleFrom="sm" leftSection={<PrintIcon size={16} />} onClick={() => window.print()}>
      Print
    </Button>
  );
}

interface StripProps {
  tone?: 'warn' | 'quiet' | 'accent' | 'late';
  children: ReactNode;
  actions?: [words: string, run: () => void][];
}

const GROUNDS = { warn: '--rs-warn-soft', quiet: '--rs-sunken', accent: '--rs-accent-soft', late: '--rs-late-filled' };

export function Strip({ tone = 'warn', children, actions = [] }: StripProps) {
  return (
    <Group
      justify="space-between"
      gap="4px 16px"
      mih={44}
      p="4px 6px 4px 14px"
      fz="sm"
      bg={`var(${GROUNDS[tone]})`}
      c={tone === 'late' ? 'white' : undefined}
      bdrs={8}
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

/** Colour of each state, and how much of its dot is filled: all, a half, nothing. */
const DOTS = { live: ['good', '100%'], reconnecting: ['warn', '50%'], offline: ['late', '0%'] } as const;

function ConnectionState() {
  const { state, since } = useConnection();
  const { clock, clockWithSeconds } = useFormat();
  const text = {
    live: 'Live',
    reconnecting: `Reconnecting, as of ${clockWithSeconds(since)}`,
    offline: `Offline since ${clock(since)}`,
  }[state];
  const [tone, filled] = DOTS[state];
  const colour = `var(--rs-${tone})`;
  const background = `linear-gradient(90deg, ${colour} ${filled}, transparent ${filled})`;
  const style = { width: 9, height: 9, border: `2px solid ${colour}`, borderRadius: '50%', background };
  return (
    <Group component="span" role="status" gap={7} fz="0.8125rem" c={state === 'live' ? 'dimmed' : colour}>
      <span style={style} aria-hidden="true" />
      {text}
    </Group>
  );
}

/** Strip over a board that nobody should trust any more. */
export function OfflineStrip() {
  const { state, since } = useConnection();
  const { clock } = useFormat();
  if (state !== 'offline') return null;
  return (
    <div role="alert">
      <Strip tone="late">
        No connection since {clock(since)}. What you see is from then; new orders are not shown. Presses are sent when
        the connection is back, within a minute.
      </Strip>
    </div>
  );
}
