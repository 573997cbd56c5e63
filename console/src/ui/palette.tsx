import { Kbd } from '@mantine/core';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { inGroups, useAllCommands, useCommandKeys, useCommands } from './commands.ts';
import { SearchIcon } from './icons.tsx';

/** Word for the key that opens the palette together with K. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** All commands of the screen with their keys, to look through or to search: by ⌘K, Ctrl-K or `?`. */
export function Palette() {
  useCommandKeys();
  useCommands('Help', [['?', 'Show all commands and keys', openPalette]]);
  const groups = inGroups(useAllCommands()).map(([group, commands]) => ({
    group,
    actions: commands.map(({ label, keys, run }) => ({
      id: label,
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
