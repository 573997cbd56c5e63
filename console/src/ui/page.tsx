import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ConnectionState } from './connection.tsx';
import classes from './page.module.css';

interface PageProps {
  title: string;
  /** One primary action of the screen, and at most a few quiet ones before it. */
  actions?: ReactNode;
  /** Filters as chips, and the search field. */
  filters?: ReactNode;
  /** Says how old the screen is. Left out on screens that do not follow live changes. */
  isLive?: boolean;
  /** The content takes the whole width and height, for the board and the calendar. */
  isWide?: boolean;
  children: ReactNode;
}

/** Frame of a screen: one heading, one primary action, filters, content. */
export function Page({ title, actions, filters, isLive = false, isWide = false, children }: PageProps) {
  return (
    <div className={classes.page} data-wide={isWide || undefined}>
      <title>{`${title} · Roomservice`}</title>
      <header className={classes.header}>
        <h1 className={classes.title}>{title}</h1>
        {isLive && <ConnectionState />}
        <div className={classes.actions}>{actions}</div>
      </header>
      {filters !== undefined && <div className={classes.filters}>{filters}</div>}
      <div className={classes.content}>{children}</div>
    </div>
  );
}

/** A part of a screen with its own heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <Group justify="space-between" align="baseline" gap={12} mb={10}>
        <Text component="h2" fw={650} m={0}>
          {title}
        </Text>
        {aside}
      </Group>
      {children}
    </section>
  );
}
