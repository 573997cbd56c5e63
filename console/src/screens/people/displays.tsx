import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, type Input } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { Form, TextField, useWrite } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { Ago } from '../../ui/history.tsx';
import { ask } from '../../ui/question.tsx';
import { type Column, ListTable } from '../../ui/table.tsx';
import { AreaChoice, rightsInWords } from './rights.tsx';

type Display = Answer<'listDisplays'>[number];

const displaysQuery = read('listDisplays', {}, ['people']);

export function DisplayList() {
  const list = useQuery(displaysQuery);
  const askToRemove = ({ id, label }: Display) =>
    ask({
      title: `Remove ${label}`,
      text: 'The display is signed out at once. To use it again, add it again: it gets new letters.',
      action: 'Remove',
      color: 'red',
      reads: ['listDisplays'],
      run: () => call('removeDisplay', { path: { id } }),
    });
  const columns: Column<Display>[] = [
    { label: 'Display', cell: ({ label }) => <strong>{label}</strong> },
    { label: 'May use', isWideOnly: true, cell: rightsInWords },
    { label: 'Last use', cell: ({ last_used_at: at }) => <Ago at={at} never="not paired" /> },
    {
      label: 'Actions',
      isNumber: true,
      cell: (display) => (
        <Button variant="subtle" color="red" size="compact-sm" onClick={() => askToRemove(display)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <ListTable
      label="Displays"
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{
        title: 'No display yet.',
        text: 'A display is a screen that nobody signs in to, in the kitchen or at the front desk. Press “Add a display”, and type its letters there.',
      }}
    />
  );
}

/** Asks where a display stands and what it may use, and then shows its letters. */
export function NewDisplay({ onClose }: { onClose: () => void }) {
  const [wanted, setWanted] = useState<Input<'createDisplay'>['body']>({ label: '', areas: [] });
  const [made, setMade] = useState<Answer<'createDisplay'> | null>(null);
  const sending = useWrite(['listDisplays'], () => call('createDisplay', { body: wanted }), setMade);
  if (made !== null) return <Letters display={made} onClose={onClose} />;
  return (
    <Form action="Make its letters" isReady={wanted.areas.length > 0} sending={sending} onCancel={onClose}>
      <TextField
        label="Name"
        placeholder="Kitchen, left of the pass"
        data-autofocus
        required
        maxLength={100}
        value={wanted.label}
        onChange={(label) => setWanted({ ...wanted, label })}
      />
      <AreaChoice areas={wanted.areas} onChange={(areas) => setWanted({ ...wanted, areas })} />
    </Form>
  );
}

function Letters({ display, onClose }: { display: Answer<'createDisplay'>; onClose: () => void }) {
  const { clock } = useFormat();
  const { data } = useQuery(displaysQuery);
  const { id, label, pairing_code: code, expires_at: end } = display;
  const isPaired = data?.some((each) => each.id === id && each.last_used_at !== null);
  return (
    <>
      {!isPaired && (
        <Text ff="monospace" fz="min(3rem, 10vw)" fw={650} ta="center">
          {`${code.slice(0, 4)} ${code.slice(4)}`}
        </Text>
      )}
      <p role="status">
        {isPaired
          ? `${label} is signed in.`
          : `On ${label}, open this address and type the letters. They work until ${clock(end)}.`}
      </p>
      {!isPaired && <CopyField label="Address" value={`${window.location.origin}/console/pair`} />}
      <Button onClick={onClose}>Done</Button>
    </>
  );
}
