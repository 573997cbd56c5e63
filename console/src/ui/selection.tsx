import { Button, Group } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { plural } from './format.ts';
import classes from './selection.module.css';
import { makeStore, type Store, useStore } from './store.ts';
import { Tick } from './tick.tsx';

/** Rows by their keys that somebody selects, to do one thing with all of them. */
export type Selection = Store<ReadonlySet<string>>;

/** The selection is no state of the screen, so that a press draws only what changes. */
export function useSelection(): Selection {
  return useState(() => makeStore<ReadonlySet<string>>(new Set()))[0];
}

export function hasAll(selection: Selection, keys: string[]): boolean {
  return keys.every((key) => selection.get().has(key));
}

/** Selects the rows, or none of them if all are selected. */
export function toggle(selection: Selection, keys: string[]): void {
  const [selected, named] = [selection.get(), new Set(keys)];
  selection.set(hasAll(selection, keys) ? selected.difference(named) : selected.union(named));
}

interface TickProps {
  selection: Selection;
  label: string;
  keys: string[];
}

/** Selects a row, or a group of rows. */
export function SelectTick({ selection, label, keys }: TickProps) {
  const isOn = useStore({ subscribe: selection.subscribe, get: () => hasAll(selection, keys) });
  return <Tick label={`Select ${label}`} isOn={isOn} onChange={() => toggle(selection, keys)} />;
}

interface BarProps {
  selection: Selection;
  /** Word for one row, and for many. */
  what: [one: string, many: string];
  children: ReactNode;
}

/** What can be done with the selected rows, in sight as long as there are some. */
export function SelectionBar({ selection, what, children }: BarProps) {
  const { size } = useStore(selection);
  if (size === 0) return null;
  return (
    <Group className={classes.bar} gap={8} mt="md" px={14} py={10} role="region" aria-label="Selected">
      <b>{plural(size, ...what)}</b>
      {children}
      <Button variant="default" onClick={() => selection.set(new Set())}>
        Clear
      </Button>
    </Group>
  );
}
