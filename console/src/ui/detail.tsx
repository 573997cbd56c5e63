import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './detail.module.css';

interface DetailProps {
  title: ReactNode;
  /** False while the address names nothing to open. */
  isOpen: boolean;
  onClose: () => void;
  /** Buttons at the foot, the first one in the accent. */
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
      title={title}
      classNames={{ title: classes.title, header: classes.header, body: classes.body, content: classes.content }}
      transitionProps={{ duration: 120 }}
    >
      <div className={classes.scroll} tabIndex={0}>
        {children}
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
    </Drawer>
  );
}

/** Facts of a thing, each a word and what it is. */
export function Facts({ facts }: { facts: (readonly [label: string, value: ReactNode] | null)[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map((fact) =>
        fact === null ? null : (
          <div key={fact[0]} className={classes.fact}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
