import { Button, Kbd } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useAllCommands } from './commands.ts';

const ID = 'undo';
/** Words of the command whose key takes back what the notice tells. */
export const UNDO = 'Undo';

/** Tells what was done, with a button that takes it back. Only the newest one is shown. */
export function showUndo(title: string, text: string, undo: () => void): void {
  const takeBack = () => {
    hideUndo();
    undo();
  };
  const message = (
    <>
      {text}{' '}
      <Button variant="light" size="compact-sm" rightSection={<UndoKey />} data-undo onClick={takeBack}>
        Undo
      </Button>
    </>
  );
  hideUndo();
  notifications.show({ id: ID, title, message, autoClose: 10_000 });
}

export function hideUndo(): void {
  notifications.hide(ID);
}

/** Takes back what the newest notice tells, for a key of the screen. */
export function undoLast(): void {
  document.querySelector<HTMLElement>('[data-undo]')?.click();
}

/** Not every screen on which the notice stands has the key for it. */
function UndoKey() {
  const command = useAllCommands().find(({ id }) => id === UNDO);
  return command && <Kbd aria-hidden="true">{command.keys}</Kbd>;
}
