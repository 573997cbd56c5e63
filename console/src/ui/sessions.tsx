import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type Answer, call } from '../api/client.ts';
import { rereadTopics } from '../api/query-client.ts';
import { read } from '../api/reads.ts';
import { Ago } from './ago.tsx';
import { deviceOf } from './device.ts';
import { Failure, Refusal } from './failure.tsx';
import { useFormat } from './format.ts';
import { Section } from './page.tsx';
import classes from './sessions.module.css';
import { Waiting } from './waiting.tsx';

type Session = Answer<'listSessions'>[number];

/** Where a person is signed in, each device with a button that signs it out. Without `personId`: oneself. */
export function Sessions({ title, personId }: { title: string; personId?: string }) {
  const query = personId === undefined ? {} : { person_id: personId };
  const { data, error, refetch } = useQuery(read('listSessions', { query }, ['people']));
  const end = useMutation({
    mutationFn: (sessions: Session[]) => Promise.all(sessions.map(({ id }) => call('endSession', { path: { id } }))),
    onSettled: () => rereadTopics(new Set(['people'])),
  });
  const others = data?.filter(({ is_current: isCurrent }) => !isCurrent) ?? [];
  return (
    <Section
      title={title}
      aside={
        others.length > 1 && (
          <Button variant="subtle" size="compact-sm" loading={end.isPending} onClick={() => end.mutate(others)}>
            {others.length === data?.length ? 'End all' : 'End all others'}
          </Button>
        )
      }
    >
      {data === undefined &&
        (error === null ? <Waiting rows={2} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data?.length === 0 && <p className={classes.quiet}>Signed in nowhere.</p>}
      <ul className={classes.list}>
        {data?.map((session) => (
          <Device key={session.id} session={session} onEnd={() => end.mutate([session])} />
        ))}
      </ul>
      <Refusal>{end.error?.message}</Refusal>
    </Section>
  );
}

function Device({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { user_agent: agent, last_used_at: usedAt, created_at: since, address, is_current: isCurrent } = session;
  const { dayAndTime } = useFormat();
  const device = deviceOf(agent);
  return (
    <li className={classes.session}>
      <div>
        <div className={classes.device}>{device}</div>
        <div className={classes.quiet}>
          {isCurrent ? (
            'This device'
          ) : (
            <>
              Last used <Ago at={usedAt} />
            </>
          )}
          . Signed in {dayAndTime(since)}, from {address}.
        </div>
      </div>
      {!isCurrent && (
        <Button variant="default" size="compact-sm" aria-label={`End the session on ${device}`} onClick={onEnd}>
          End
        </Button>
      )}
    </li>
  );
}
