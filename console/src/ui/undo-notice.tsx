import { Button, Kbd } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useAllCommands } from './commands.ts';

const ID = 'undo';
/** Words of the command whose key takes back what the notice tells. */
export const UNDO = 'Undo';
let undoShown: (() => void) | null = null;

/** Tells what was done, with a button that takes it back. Only the newest one is shown. */
export function showUndo(title: string, message: string, undo: () => void): void {
  const takeBack = () => {
    notifications.hide(ID);
    undo();
  };
  notifications.hide(ID);
  notifications.show({
    id: ID,
    title,
    message: (
      <>
        {message}{' '}
        <Button variant="light" size="compact-sm" rightSection={<UndoKey />} onClick={takeBack}>
          Undo
        </Button>
      </>
    ),
    autoClose: 10_000,
    onClose() {
      if (undoShown === takeBack) undoShown = null;
    },
  });
  undoShown = takeBack;
}

/** Takes back what the newest notice tells, for a key of the screen. */
export function undoLast(): void {
  undoShown?.();
}

/** Not every screen on which the notice stands has the key for it. */
function UndoKey() {
  const command = useAllCommands().find(({ id }) => id === UNDO);
  return command && <Kbd aria-hidden="true">{command.keys}</Kbd>;
}

/** Takes the notice away, before a dialog whose buttons it would cover. */
export function hideUndo(): void {
  notifications.hide(ID);
}
