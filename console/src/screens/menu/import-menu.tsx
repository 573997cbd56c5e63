import { Modal, Text } from '@mantine/core';
import { useFileDialog } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { type Answer, call, Refused, send } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { Facts } from '../../ui/detail.tsx';
import type { Menu } from '../../ui/dishes.ts';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Note } from '../../ui/status.tsx';

type Comparison = Extract<Answer<'replaceMenu'>, { taken_off: string[] }>;

/** Reads the menu and asks what the file would change in it. The tag makes sure that the import changes nothing else. */
async function compare(file: File) {
  const after: Menu | null = await file
    .text()
    .then(JSON.parse)
    .catch(() => null);
  if (!Array.isArray(after?.dishes))
    throw new Error('This is no menu document. Choose a JSON file as Export makes it.');
  const response = await send('getMenuDocument', {});
  // A proxy that compresses makes a tag weak, and a weak tag never matches.
  const headers = { 'if-match': (response.headers.get('etag') ?? '').replace(/^W\//, '') };
  const before = (await response.json()) as Menu;
  const nameOf = (place: string, count: string) => after.dishes[Number(count) - 1]?.name ?? place;
  const said = await call('replaceMenu', { query: { dry_run: true }, body: after }, { headers }).catch(
    (error: Error) => {
      error.message = error.message.replace(/dishes (\d+)/g, nameOf);
      throw error;
    },
  );
  return { before, after, said: said as Comparison, headers };
}

/** Returns the function that asks for a file, and the dialog that shows what the file would change before it does. */
export function useImport() {
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
  const onChange = (files: FileList | null) => {
    const [chosen] = files ?? [];
    if (chosen === undefined) return;
    setFile(chosen);
    importing.reset();
    comparing.mutate(chosen);
  };
  const { open: choose } = useFileDialog({ accept: '.json', multiple: false, onChange });
  const sending = {
    ...importing,
    mutate: () => comparing.data && importing.mutate(comparing.data),
    error: isMovedOn(importing.error) ? null : importing.error,
  };
  const dialog = (
    <Modal opened={file !== null} onClose={() => setFile(null)} size="lg" title={`Import ${file?.name ?? ''}`}>
      {isMovedOn(importing.error) && (
        <Note role="alert">
          Somebody has changed the menu meanwhile, so nothing was imported. This compares the file with the menu of now.
        </Note>
      )}
      <Form action="Import" sending={sending} isReady={comparing.data !== undefined} onCancel={() => setFile(null)}>
        <Loaded query={{ ...comparing, refetch: () => file && comparing.mutate(file) }} rows={3}>
          {(compared) => <Differences {...compared} />}
        </Loaded>
      </Form>
    </Modal>
  );
  return { choose, dialog };
}

function isMovedOn(error: Error | null): boolean {
  return error instanceof Refused && error.status === 412;
}

/** What an import would change: dishes that are added, changed field by field, and taken off. */
function Differences({ before, after, said }: Awaited<ReturnType<typeof compare>>) {
  const dishOf = ({ dishes }: Menu, sku: string) => dishes.find((dish) => dish.sku === sku);
  const nameOf = (sku: string) => (dishOf(after, sku) ?? dishOf(before, sku))?.name ?? sku;
  const names = (title: string, skus: string[]) =>
    skus.length > 0 && <Section title={`${title}: ${skus.length}`}>{skus.map(nameOf).join(', ')}</Section>;
  return (
    <>
      {names('Added', said.added)}
      {said.changed.length > 0 && (
        <Section title={`Changed: ${said.changed.length}`}>
          {said.changed.map(({ sku, fields }) => (
            <Fragment key={sku}>
              <Text fw={600} mt="xs">
                {nameOf(sku)}
              </Text>
              <Facts
                facts={fields.map((field) => [
                  field.replaceAll('_', ' '),
                  <Values from={valuesOf(dishOf(before, sku), field)} to={valuesOf(dishOf(after, sku), field)} />,
                ])}
              />
            </Fragment>
          ))}
        </Section>
      )}
      {names('Taken off', said.taken_off)}
      <p>
        {said.added.length + said.changed.length + said.taken_off.length === 0 && 'No dish changes. '}
        Categories, kitchens, sub-menus, menu sets and the order of the dishes become those of the file.
      </p>
    </>
  );
}

function Values({ from, to }: { from: string[]; to: string[] }) {
  const [gone, come] = [from.filter((each) => !to.includes(each)), to.filter((each) => !from.includes(each))];
  if (gone.length + come.length === 0) return <>details or order of the list</>;
  return (
    <>
      <del>{gone.join(', ')}</del> → <ins>{come.join(', ') || 'nothing'}</ins>
    </>
  );
}

/** A list has one text for each of its entries, so that only those are shown which differ. */
function valuesOf(dish: object | undefined, field: string): string[] {
  const value = (dish as Record<string, unknown> | undefined)?.[field] ?? '';
  return (Array.isArray(value) ? value : [value]).map(textOf).filter((text) => text !== '');
}

function textOf(value: string | boolean | { name: string; price: string; is_active?: boolean }): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : `${value.name} ${value.price}${value.is_active === false ? ' (off)' : ''}`;
}
