import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';

let undoShown: (() => void) | null = null;

/** Tells what was done, with a button that takes it back. */
export function showUndo(title: string, message: string, undo: () => void): void {
  const takeBack = () => {
    notifications.hide(id);
    undo();
  };
  const id = notifications.show({
    title,
    message: (
      <>
        {message}{' '}
        <Button variant="light" size="compact-sm" onClick={takeBack}>
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
