import { Group, Kbd, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { type Command, inGroups, useAllCommands, useCommandKeys, useCommands } from './commands.ts';
import { SearchIcon } from './icons.tsx';

/** Word for the key that opens the palette together with K. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const HELP: Command[] = [{ id: 'keys', label: 'Show all keys', group: 'Help', keys: '?', run: showKeys }];

/** All commands of the screen: by ⌘K or Ctrl-K as a list to search, by `?` as a list of keys. */
export function Palette() {
  useCommandKeys();
  useCommands(HELP);
  const groups = inGroups(useAllCommands()).map(([group, commands]) => ({
    group,
    actions: commands.map(({ id, label, keys, run }) => ({
      id,
      label,
      onClick: run,
      ...(keys === undefined ? {} : { rightSection: <Keys keys={keys} /> }),
    })),
  }));
  return (
    <Spotlight
      actions={groups}
      shortcut={['mod + K']}
      nothingFound="No such command."
      searchProps={{ placeholder: 'What do you want to do?', 'aria-label': 'Command', leftSection: <SearchIcon /> }}
      highlightQuery
    />
  );
}

export function openPalette(): void {
  spotlight.open();
}

export function showKeys(): void {
  modals.open({ title: 'Keys', size: 680, children: <KeyList /> });
}

function KeyList() {
  const withKeys = useAllCommands().filter(({ keys }) => keys !== undefined);
  const find = { id: 'find', label: 'Find a command', group: 'Help', keys: `${MOD} K`, run: openPalette };
  return (
    <div style={{ columns: '2 250px', columnGap: 32 }}>
      {inGroups([...withKeys, find]).map(([group, commands]) => (
        <section key={group} style={{ marginBottom: 20, breakInside: 'avoid' }}>
          <Text component="h3" fz="xs" fw={550} c="dimmed" m={0}>
            {group}
          </Text>
          {commands.map(({ id, label, keys = '' }) => (
            <Group key={id} justify="space-between" py={6} fz="sm" style={{ borderBottom: '1px solid var(--rs-line)' }}>
              <span>{label}</span>
              <Keys keys={keys} />
            </Group>
          ))}
        </section>
      ))}
    </div>
  );
}

function Keys({ keys }: { keys: string }) {
  return (
    <Group component="span" gap={4}>
      {keys.split(' ').map((key) => (
        <Kbd key={key} fz="xs">
          {key}
        </Kbd>
      ))}
    </Group>
  );
}
