import { Button, Kbd } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useCommands } from './commands.ts';

const ID = 'undo';

/** Tells what was done, with a button and a key that take it back. Only the newest one is shown. */
export function showUndo(title: string, text: string, undo: () => void): void {
  const takeBack = () => {
    hideUndo();
    undo();
  };
  const message = (
    <>
      {text} <UndoButton onPress={takeBack} />
    </>
  );
  hideUndo();
  notifications.show({ id: ID, title, message, autoClose: 10_000 });
}

export function hideUndo(): void {
  notifications.hide(ID);
}

function UndoButton({ onPress }: { onPress: () => void }) {
  useCommands('Undo', [['u', 'Undo', onPress]]);
  return (
    <Button variant="light" size="compact-sm" rightSection={<Kbd aria-hidden="true">u</Kbd>} onClick={onPress}>
      Undo
    </Button>
  );
}
