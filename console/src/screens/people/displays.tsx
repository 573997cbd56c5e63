import { Button, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, type Input } from '../../api/client.ts';
import { useNow } from '../../live/clock.ts';
import { Ago } from '../../ui/ago.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Confirm, Form } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { type Column, ShortList } from '../../ui/table.tsx';
import { displaysQuery, rereadPeople } from './people-data.ts';
import { AreaChoice, rightsInWords } from './rights.tsx';

type Display = Answer<'listDisplays'>[number];

export function DisplayList() {
  const list = useQuery(displaysQuery);
  const [removing, setRemoving] = useState<Display | null>(null);
  const remove = useMutation({
    mutationFn: async () => {
      await call('removeDisplay', { path: { id: removing?.id ?? '' } });
      setRemoving(null);
      await rereadPeople();
    },
  });
  const columns: Column<Display>[] = [
    { label: 'Display', cell: ({ label }) => <strong>{label}</strong> },
    { label: 'May use', isWideOnly: true, cell: rightsInWords },
    { label: 'Last use', cell: ({ last_used_at: at }) => <Ago at={at} never="not paired" /> },
    {
      label: 'Actions',
      isNumber: true,
      cell: (display) => (
        <Button variant="subtle" color="red" size="compact-sm" onClick={() => setRemoving(display)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <>
      <ShortList
        label="Displays"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={{
          title: 'No display yet.',
          text: 'A display is a screen that nobody signs in to, in the kitchen or at the front desk. Press “Add a display”, and type its letters there.',
        }}
      />
      <Confirm
        title={`Remove ${removing?.label ?? ''}`}
        text="The display is signed out at once. To use it again, add it again: it gets new letters."
        action="Remove"
        color="red"
        isOpen={removing !== null}
        sending={remove}
        onClose={() => setRemoving(null)}
      />
    </>
  );
}

/** Asks where a display stands and what it may use, and then shows its letters. */
export function NewDisplay({ onClose }: { onClose: () => void }) {
  const [wanted, setWanted] = useState<Input<'createDisplay'>['body']>({ label: '', areas: [] });
  const [made, setMade] = useState<Answer<'createDisplay'> | null>(null);
  const sending = useMutation({
    mutationFn: async () => {
      setMade(await call('createDisplay', { body: wanted }));
      await rereadPeople();
    },
  });
  if (made !== null) return <Letters display={made} onClose={onClose} />;
  return (
    <Form action="Make its letters" sending={sending} onCancel={onClose}>
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

/** The eight letters, until they are typed or have ended. */
function Letters({ display, onClose }: { display: Answer<'createDisplay'>; onClose: () => void }) {
  const { data } = useQuery(displaysQuery);
  const { id, label, pairing_code: code } = display;
  const minutes = Math.ceil((Date.parse(display.expires_at) - useNow()) / 60_000);
  const isPaired = data?.some((each) => each.id === id && each.last_used_at !== null) === true;
  const isOver = isPaired || minutes <= 0;
  const over = isPaired ? `${label} is signed in.` : 'The letters have ended. Remove the display, and add it again.';
  return (
    <>
      {!isOver && (
        <Text ff="monospace" fz="min(3rem, 10vw)" fw={650} ta="center">
          {`${code.slice(0, 4)} ${code.slice(4)}`}
        </Text>
      )}
      <p role="status">
        {isOver ? over : `On ${label}, open this address and type the letters. ${plural(minutes, 'minute')} left.`}
      </p>
      {!isOver && <CopyField label="Address" value={`${window.location.origin}/console/pair`} />}
      <Button onClick={onClose}>Done</Button>
    </>
  );
}
