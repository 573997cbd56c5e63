import { useMemo } from 'react';
import { type Command, useCommands } from './commands.ts';

const NO_COMMANDS: Command[] = [];

/** Lets `j` and `k` move the focus over the rows of the screen's table. */
export function useRowKeys(isOn: boolean): void {
  const commands = useMemo<Command[]>(
    () => [
      { id: 'next row', label: 'Next row', group: 'Table', keys: 'j', run: () => moveFocus(1) },
      { id: 'row before', label: 'Row before', group: 'Table', keys: 'k', run: () => moveFocus(-1) },
    ],
    [],
  );
  useCommands(isOn ? commands : NO_COMMANDS);
}

/** Key of the table's row that has the focus. */
export function focusedKey(): string | undefined {
  return focusedRow()?.dataset['key'];
}

/** Puts the focus on a control of the row that has the focus. */
export function focusInRow(selector: string): void {
  focusedRow()?.querySelector<HTMLElement>(selector)?.focus();
}

function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('tr[data-key]') ?? null;
}

function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('tr[data-opens]')];
  const index = rows.findIndex((row) => row === focusedRow());
  rows[index === -1 ? 0 : index + step]?.querySelector('button')?.focus();
}
