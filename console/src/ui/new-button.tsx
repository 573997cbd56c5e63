import { Button } from '@mantine/core';
import { useCommands } from './commands.ts';
import { PlusIcon } from './icons.tsx';

interface Props {
  label: string;
  /** Group of the command, which is the screen's name. */
  group: string;
  onPress: () => void;
}

/** Primary action of a screen that adds something, also by the key `n`. */
export function NewButton({ label, group, onPress }: Props) {
  useCommands([{ id: 'new', label, group, keys: 'n', run: onPress }]);
  return (
    <Button leftSection={<PlusIcon size={16} />} onClick={onPress}>
      {label}
    </Button>
  );
}
