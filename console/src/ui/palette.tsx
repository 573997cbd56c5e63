import { Modal } from '@mantine/core';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { useMemo, useState } from 'react';
import { type Command, useAllCommands, useCommandKeys, useCommands } from './commands.ts';
import classes from './palette.module.css';
import { SearchIcon } from './icons.tsx';

/** All commands of the screen: by ⌘K or Ctrl-K as a list to search, by `?` as a list of keys. */
export function Palette() {
  const [isListing, setListing] = useState(false);
  useCommandKeys();
  const own = useMemo<Command[]>(
    () => [{ id: 'keys', label: 'Show all keys', group: 'Help', keys: '?', run: () => setListing(true) }],
    [],
  );
  useCommands(own);
  const commands = useAllCommands();
  const actions = commands.map((command) => ({
    id: command.id,
    label: command.label,
    group: command.group,
    onClick: command.run,
    ...(command.keys === undefined ? {} : { rightSection: <Keys keys={command.keys} /> }),
  }));
  const groups = [...new Set(actions.map(({ group }) => group))].map((group) => ({
    group,
    actions: actions.filter((action) => action.group === group),
  }));
  return (
    <>
      <Spotlight
        actions={groups}
        shortcut={['mod + K']}
        nothingFound="No such command."
        searchProps={{ placeholder: 'What do you want to do?', 'aria-label': 'Command', leftSection: <SearchIcon /> }}
        highlightQuery
      />
      <Modal opened={isListing} onClose={() => setListing(false)} title="Keys">
        <dl className={classes.list}>
          <div>
            <dt>Find a command</dt>
            <dd>
              <Keys keys="Ctrl K" />
            </dd>
          </div>
          {commands.map(
            ({ id, label, keys }) =>
              keys !== undefined && (
                <div key={id}>
                  <dt>{label}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ),
          )}
        </dl>
      </Modal>
    </>
  );
}

export function openPalette(): void {
  spotlight.open();
}

function Keys({ keys }: { keys: string }) {
  return (
    <span className={classes.keys}>
      {keys.split(' ').map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
