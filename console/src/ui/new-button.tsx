import { Button } from '@mantine/core';
import { commandsOf, useCommands } from './commands.ts';
import { PlusIcon } from './icons.tsx';

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
