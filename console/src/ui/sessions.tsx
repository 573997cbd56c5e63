import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type Answer, call } from '../api/client.ts';
import { rereadTopics } from '../api/query-client.ts';
import { read } from '../api/reads.ts';
import { Ago } from './ago.tsx';
import { Refusal } from './failure.tsx';
import { useFormat } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Section } from './page.tsx';

type Session = Answer<'listSessions'>[number];

/** Where a person is signed in, each device with a button that signs it out. Without `personId`: oneself. */
export function Sessions({ title, personId }: { title: string; personId?: string }) {
  const query = personId === undefined ? {} : { person_id: personId };
  const sessions = useQuery(read('listSessions', { query }, ['people']));
  const end = useMutation({
    mutationFn: (id: string) => call('endSession', { path: { id } }),
    onSettled: () => rereadTopics(new Set(['people'])),
  });
  return (
    <Section title={title}>
      <Loaded query={sessions} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p className="quiet">Signed in nowhere.</p>
          ) : (
            <Stack component="ul" m={0} p={0} gap={20}>
              {all.map((session) => (
                <Device key={session.id} session={session} onEnd={() => end.mutate(session.id)} />
              ))}
            </Stack>
          )
        }
      </Loaded>
      <Refusal>{end.error?.message}</Refusal>
    </Section>
  );
}

function Device({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { user_agent: agent, last_used_at: usedAt, created_at: since, address, is_current: isCurrent } = session;
  const { dayAndTime } = useFormat();
  const device = deviceOf(agent);
  return (
    <Group component="li" gap={12} justify="space-between" wrap="nowrap">
      <div>
        <Text fz="sm" fw={550}>
          {device}
        </Text>
        <p className="quiet">
          {isCurrent ? (
            'This device'
          ) : (
            <>
              Last used <Ago at={usedAt} />
            </>
          )}
          . Signed in {dayAndTime(since)}, from {address}.
        </p>
      </div>
      {!isCurrent && (
        <Button variant="default" size="compact-sm" aria-label={`End the session on ${device}`} onClick={onEnd}>
          End
        </Button>
      )}
    </Group>
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

/** Browser and system of a header `User-Agent` in words: `Firefox on Windows`. */
function deviceOf(userAgent: string): string {
  const nameOf = (kinds: Record<string, RegExp>) => Object.keys(kinds).find((name) => kinds[name]?.test(userAgent));
  const words = [nameOf(BROWSERS), nameOf(SYSTEMS)].filter((word) => word !== undefined);
  return words.join(' on ') || 'An unknown device';
}
