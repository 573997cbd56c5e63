import { Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, type RefObject, useState } from 'react';
import { call, Refused, send } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import type { Menu } from '../../ui/dishes.ts';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/status.tsx';
import { type Comparison, Differences } from './differences.tsx';

/** Reads the menu and asks what the file would change in it. The tag makes sure that the import changes nothing else. */
async function compare(file: File) {
  const after = JSON.parse(await file.text()) as Menu;
  const response = await send('getMenuDocument', {});
  // A proxy that compresses makes a tag weak, and a weak tag never matches.
  const headers = { 'if-match': (response.headers.get('etag') ?? '').replace(/^W\//, '') };
  const before = (await response.json()) as Menu;
  const said = (await call('replaceMenu', { query: { dry_run: true }, body: after }, { headers })) as Comparison;
  return { before, after, said, headers };
}

/** The hidden field for a file, and the dialog that shows what the file would change before it does. */
export function ImportMenu({ picker }: { picker: RefObject<HTMLInputElement | null> }) {
  const [file, setFile] = useState<File | null>(null);
  const comparing = useMutation({ mutationFn: compare });
  const importing = useMutation({
    mutationFn: ({ after, headers }: Awaited<ReturnType<typeof compare>>) =>
      call('replaceMenu', { body: after }, { headers }),
    onSuccess() {
      setFile(null);
      notifications.show({ title: 'The menu is imported', message: 'Partners get it from now on.' });
      rereadTopics(new Set(['menu']));
    },
    onError: (error) => isMovedOn(error) && file && comparing.mutate(file),
  });
  const choose = ({ currentTarget: input }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = input.files ?? [];
    if (chosen === undefined) return;
    setFile(chosen);
    importing.reset();
    comparing.mutate(chosen);
    // The same file may be chosen again, after a change in it.
    input.value = '';
  };
  const sending = {
    ...importing,
    mutate: () => comparing.data && importing.mutate(comparing.data),
    error: isMovedOn(importing.error) ? null : importing.error,
  };
  return (
    <>
      <input ref={picker} type="file" accept=".json" hidden onChange={choose} />
      <Modal opened={file !== null} onClose={() => setFile(null)} size="lg" title={`Import ${file?.name ?? ''}`}>
        {isMovedOn(importing.error) && (
          <Note role="alert">
            Somebody has changed the menu meanwhile, so nothing was imported. This compares the file with the menu of
            now.
          </Note>
        )}
        <Form action="Import" sending={sending} isReady={comparing.data !== undefined} onCancel={() => setFile(null)}>
          <Loaded query={{ ...comparing, refetch: () => file && comparing.mutate(file) }} rows={3}>
            {(compared) => <Differences {...compared} />}
          </Loaded>
        </Form>
      </Modal>
    </>
  );
}

function isMovedOn(error: Error | null): boolean {
  return error instanceof Refused && error.status === 412;
}
