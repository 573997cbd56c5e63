import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type Answer, call } from '../api/client.ts';
import { read } from '../api/reads.ts';
import { useWrite } from './form.tsx';
import { useFormat } from './format.ts';
import { Ago } from './history.tsx';
import { Refusal } from './loaded.tsx';
import { Section } from './page.tsx';
import { type Column, ListTable } from './table.tsx';

type Session = Answer<'listSessions'>[number];

/** Where a person is signed in, each device with a button that signs it out. Without `personId`: oneself. */
export function Sessions({ title, personId }: { title: string; personId?: string }) {
  const query = personId === undefined ? {} : { person_id: personId };
  const list = useQuery(read('listSessions', { query }, ['people']));
  const { dayAndTime } = useFormat();
  const end = useWrite(['listSessions'], (id: string) => call('endSession', { path: { id } }));
  const columns: Column<Session>[] = [
    {
      label: 'Device',
      cell: (session) => (
        <>
          {deviceOf(session)}
          <p className="quiet">
            Signed in {dayAndTime(session.created_at)}, from {session.address}
          </p>
        </>
      ),
    },
    {
      label: 'Last use',
      cell: ({ is_current: isCurrent, last_used_at: at }) => (isCurrent ? 'This device' : <Ago at={at} />),
    },
    {
      label: 'Actions',
      isNumber: true,
      cell: (session) =>
        !session.is_current && (
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`End the session on ${deviceOf(session)}`}
            onClick={() => end.mutate(session.id)}
          >
            End
          </Button>
        ),
    },
  ];
  return (
    <Section title={title}>
      <ListTable
        label={title}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={{ title: 'Signed in nowhere.' }}
      />
      <Refusal>{end.error?.message}</Refusal>
    </Section>
  );
}

/** A browser names others too, so the first that is found counts: Edge before Chrome, Chrome before Safari. */
const BROWSERS = { Edge: /Edg/, Firefox: /Firefox|FxiOS/, Chrome: /Chrome|CriOS/, Safari: /Safari/ };
const SYSTEMS = {
  iPhone: /iPhone/,
  iPad: /iPad/,
  Android: /Android/,
  Windows: /Windows/,
  Mac: /Mac/,
  Linux: /Linux|CrOS/,
};

/** Browser and system of a session in words: `Firefox on Windows`. */
function deviceOf({ user_agent: agent }: Session): string {
  const nameOf = (kinds: Record<string, RegExp>) => Object.keys(kinds).find((name) => kinds[name]?.test(agent));
  const words = [nameOf(BROWSERS), nameOf(SYSTEMS)].filter((word) => word !== undefined);
  return words.join(' on ') || 'An unknown device';
}
