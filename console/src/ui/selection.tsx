import { Button } from '@mantine/core';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { plural } from './format.ts';
import classes from './selection.module.css';
import { Tick } from './tick.tsx';

export type Selection = ReturnType<typeof createSelection>;

/** Rows by their keys that somebody selects, to do one thing with all of them. */
export function useSelection(): Selection {
  return useState(createSelection)[0];
}

/** It is no state of the screen, so that a press draws only what changes. */
function createSelection() {
  let selected: ReadonlySet<string> = new Set();
  const listeners = new Set<() => void>();
  const set = (keys: ReadonlySet<string>) => {
    selected = keys;
    for (const listener of listeners) {
      listener();
    }
  };
  const hasAll = (keys: string[]) => keys.every((key) => selected.has(key));
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    count: () => selected.size,
    hasAll,
    /** Selects the rows, or none of them if all are selected. */
    toggle: (keys: string[]) => set(hasAll(keys) ? selected.difference(new Set(keys)) : selected.union(new Set(keys))),
    clear: () => set(new Set()),
  };
}

interface TickProps {
  selection: Selection;
  label: string;
  keys: string[];
}

/** Selects a row, or a group of rows. */
export function SelectTick({ selection, label, keys }: TickProps) {
  const isOn = useSyncExternalStore(selection.subscribe, () => selection.hasAll(keys));
  return <Tick label={`Select ${label}`} isOn={isOn} onChange={() => selection.toggle(keys)} />;
}

interface BarProps {
  selection: Selection;
  /** Word for one row, and for many. */
  what: [one: string, many: string];
  children: ReactNode;
}

/** What can be done with the selected rows, in sight as long as there are some. */
export function SelectionBar({ selection, what, children }: BarProps) {
  const count = useSyncExternalStore(selection.subscribe, selection.count);
  if (count === 0) return null;
  return (
    <div className={classes.bar} role="region" aria-label="Selected">
      <b>{plural(count, ...what)}</b>
      {children}
      <Button variant="default" onClick={selection.clear}>
        Clear
      </Button>
    </div>
  );
}
