import { Kbd } from '@mantine/core';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { commandsOf, inGroups, useAllCommands, useCommandKeys, useCommands } from './commands.ts';
import { SearchIcon } from './icons.tsx';

/** Word for the key that opens the palette together with K. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const HELP = commandsOf('Help', [['?', 'Show all commands and keys', openPalette]]);

/** All commands of the screen with their keys, to look through or to search: by ⌘K, Ctrl-K or `?`. */
export function Palette() {
  useCommandKeys();
  useCommands(HELP);
  const groups = inGroups(useAllCommands()).map(([group, commands]) => ({
    group,
    actions: commands.map(({ id, label, keys, run }) => ({
      id,
      label,
      onClick: run,
      rightSection: keys && <Kbd fz="xs">{keys}</Kbd>,
    })),
  }));
  return (
    <Spotlight
      actions={groups}
      shortcut={['mod + K']}
      nothingFound="No such command."
      searchProps={{ placeholder: 'What do you want to do?', 'aria-label': 'Command', leftSection: <SearchIcon /> }}
      highlightQuery
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
    />
  );
}

export function openPalette(): void {
  spotlight.open();
}
