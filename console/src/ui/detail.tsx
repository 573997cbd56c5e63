import { Drawer, Group } from '@mantine/core';
import { Fragment, type ReactNode, useState } from 'react';
import classes from './detail.module.css';
import { Status, type Tone } from './status.tsx';

interface DetailProps {
  title: ReactNode;
  /** False while the address names nothing to open. */
  isOpen: boolean;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}

/** Drawer for one thing. What it shows is in the address, so Back closes it and a link opens it. */
export function Detail({ title, isOpen, onClose, actions, children }: DetailProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="min(560px, 100vw)"
      title={<b>{title}</b>}
      classNames={classes}
      transitionProps={{ duration: 120 }}
    >
      <div className={classes.scroll} tabIndex={0}>
        {children}
      </div>
      {actions !== undefined && (
        <Group gap={8} px={16} py={14} style={{ borderTop: '1px solid var(--rs-line)' }}>
          {actions}
        </Group>
      )}
    </Drawer>
  );
}

/** Returns the last id that there was, because a drawer keeps what it showed while it slides away. */
export function useLastId(id: string | undefined): string | undefined {
  const [lastId, setLastId] = useState(id);
  if (id !== undefined && id !== lastId) setLastId(id);
  return id ?? lastId;
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

/** Facts of a thing, each a word and what it is. */
export function Facts({ facts }: { facts: (readonly [label: string, value: ReactNode] | null)[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(
        (fact) =>
          fact !== null && (
            <Fragment key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
