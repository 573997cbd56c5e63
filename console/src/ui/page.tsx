import { Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMe } from '../api/session.ts';
import { ConnectionState } from './connection.tsx';
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

/** Frame of a screen: one heading, one primary action, filters, content. */
export function Page({ title, actions, filters, isLive = false, isWide = false, children }: PageProps) {
  const house = useMe().tenant.name;
  return (
    <div className={classes.page} data-wide={isWide || undefined}>
      <title>{`${title} · Roomservice`}</title>
      <p className="on-paper">{house}</p>
      <Group component="header" justify="space-between" gap="6px 10px" mih={36}>
        <Group gap={10}>
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
        <Group gap={8} mt="md" className={`${classes.filters} off-paper`}>
          {filters}
        </Group>
      )}
      <div className={classes.content}>{children}</div>
    </div>
  );
}

/** A part of a screen with its own heading. */
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
