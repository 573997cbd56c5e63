import { Button } from '@mantine/core';
import { commandsOf, useCommands } from './commands.ts';
import { PlusIcon, PrintIcon } from './icons.tsx';

interface Props {
  label: string;
  group: string;
  onPress: () => void;
}

/** Primary action of a screen that adds something, also by the key `n`. */
export function NewButton({ label, group, onPress }: Props) {
  useCommands(commandsOf(group, [['n', label, onPress]]));
  return (
    <Button pr="md" leftSection={<PlusIcon size={16} />} onClick={onPress}>
      {label}
    </Button>
  );
}

/** Prints the screen, by its print styles. A phone prints by its own menu. */
export function PrintButton() {
  return (
    <Button variant="default" visibleFrom="sm" leftSection={<PrintIcon size={16} />} onClick={() => window.print()}>
      Print
    </Button>
  );
}
