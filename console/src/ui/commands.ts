import { useEffect, useRef } from 'react';
import { makeStore, useStore } from './store.ts';

type Named = [
  /** A key as `KeyboardEvent.key` has it, or two with a space between them, which are pressed one after the other: `g o`. */
  keys: string | undefined,
  label: string,
  run: () => void,
  /** A key that is held runs it again and again. */
  mayRepeat?: boolean,
];

interface Command {
  group: string;
  keys: string | undefined;
  label: string;
  mayRepeat: boolean | undefined;
  run: () => void;
}

const registered = makeStore<ReadonlyMap<symbol, Command[]>>(new Map());

/**
 * Offers what a person can do, by the palette and by its key if it has one, while the component is on the screen. The functions may be new at
 * each render: a key runs the newest.
 */
export function useCommands(group: string, named: Named[]): void {
  const newest = useRef(named);
  useEffect(() => {
    newest.current = named;
  });
  const words = JSON.stringify(named);
  useEffect(() => {
    const name = Symbol(group);
    const offered = newest.current.map(([keys, label, , mayRepeat], index) => {
      const run = () => newest.current[index]?.[2]();
      return { group, keys, label, mayRepeat, run };
    });
    registered.set(new Map(registered.get()).set(name, offered));
    return () => registered.set(new Map([...registered.get()].filter(([each]) => each !== name)));
  }, [group, words]);
}

export function useAllCommands(): Command[] {
  return [...useStore(registered).values()].flat();
}

/** Groups of the frame. Those of the screen stand before them. */
const FRAME = ['Screens', 'Console', 'Help'];

/** Commands by their groups, what the screen itself offers first. */
export function inGroups(commands: Command[]): [group: string, commands: Command[]][] {
  const groups = [...Map.groupBy(commands, ({ group }) => group)];
  return groups.toSorted(([one], [other]) => FRAME.indexOf(one) - FRAME.indexOf(other));
}

/** Longest time between the two keys of a command. */
const SEQUENCE_MS = 1_200;

/** Runs commands by their keys, except while somebody types or a dialog is open. */
export function useCommandKeys(): void {
  useEffect(() => {
    let first = { key: '', at: 0 };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event.target)) {
        return;
      }
      const key = keyOf(event);
      const sequence = event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : '';
      const all = [...registered.get().values()].flat();
      const command = all.findLast(({ keys }) => keys === sequence) ?? all.findLast(({ keys }) => keys === key);
      first = command === undefined ? { key, at: event.timeStamp } : { key: '', at: 0 };
      if (command !== undefined) {
        event.preventDefault();
        if (!event.repeat || command.mayRepeat) command.run();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** Returns the key as if Caps Lock were off. */
function keyOf({ key, shiftKey }: KeyboardEvent): string {
  if (key.length > 1) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}

function isTaken(target: EventTarget | null): boolean {
  const isTyping =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'));
  return isTyping || document.querySelector('[role="dialog"][data-blocks-keys], .mantine-Modal-content') !== null;
}
