import { useQuery } from '@tanstack/react-query';
import { read, REREAD_MS, SOON_MS } from '../../api/reads.ts';
import type { Answer } from '../../api/client.ts';
import { useNow } from '../../live/clock.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { Detail, Facts } from '../../ui/detail.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import classes from './delivery-detail.module.css';
import { CAUSES, EVENT, MAX_ATTEMPTS, outcomeOf, STATUS } from './words.ts';

type Delivery = Answer<'getWebhookDelivery'>;

/** Drawer of one delivery: what was sent, what came back, and how to send it to one's own machine. */
export function DeliveryDetail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useQuery({
    ...read('getWebhookDelivery', { path: { id: id ?? '' } }, ['events', 'credentials']),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? SOON_MS : REREAD_MS),
  });
  const { data } = query;
  return (
    <Detail
      title={data === undefined ? 'Delivery' : (EVENT[data.event as keyof typeof EVENT] ?? data.event)}
      isOpen={id !== undefined}
      onClose={onClose}
    >
      <Loaded query={query}>{(delivery) => <Content delivery={delivery} />}</Loaded>
    </Detail>
  );
}

function Content({ delivery }: { delivery: Delivery }) {
  const { dayAndTime } = useFormat();
  const { subject } = delivery;
  return (
    <>
      <Facts
        facts={[
          ['Status', <Status tone={STATUS[delivery.status].tone}>{STATUS[delivery.status].label}</Status>],
          ['Partner', delivery.credential_label || 'No name'],
          [subject.type === 'order' ? 'Order' : 'Stay', subject.external_id || subject.id],
          ['Happened', dayAndTime(delivery.created_at)],
          delivery.next_attempt_at === null ? null : ['Next attempt', <NextAttempt at={delivery.next_attempt_at} />],
          ['Event id', <code>{delivery.event_id}</code>],
        ]}
      />
      <Section
        title="Attempts"
        aside={delivery.attempts.some(({ error }) => error !== null) && <a href={CAUSES}>What to check</a>}
      >
        <Attempts delivery={delivery} />
      </Section>
      {delivery.status === 'failed' && <InFeed eventId={delivery.event_id} />}
      <Section title="Send it to your own machine">
        <CopyField label="Command for a shell" value={curlOf(delivery)} />
      </Section>
      <Section title="What is sent">
        <CopyField label="Body, as it is signed" value={indented(delivery.body)} />
        <CopyField
          label="Headers without the signature"
          value={Object.entries(delivery.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        />
      </Section>
    </>
  );
}

/** The event as the partner reads it. Its feed can only be read from the start, so the event is looked up by its id, without its cursor. */
function InFeed({ eventId }: { eventId: string }) {
  const { data } = useQuery(read('listStaffEvents', { query: { ids: eventId } }, ['events']));
  const [event] = data?.results ?? [];
  return (
    <Section title="In the partner’s feed instead">
      <Note>
        After {MAX_ATTEMPTS} attempts this is not sent again. The partner finds it in its feed,{' '}
        <code>GET /v1/third-party/events/</code>. The service does not know whether it has looked there.
      </Note>
      {event && (
        <CopyField
          label="The partner reads it as"
          value={JSON.stringify({ ...event, credential_id: undefined }, null, 2)}
        />
      )}
    </Section>
  );
}

function NextAttempt({ at }: { at: string }) {
  const { clockWithSeconds } = useFormat();
  const ms = Date.parse(at) - useNow();
  return <>{ms > 0 ? `${clockWithSeconds(at)}, in ${formatAge(ms)}` : 'now'}</>;
}

function Attempts({ delivery }: { delivery: Delivery }) {
  const { clockWithSeconds, dayAndTime } = useFormat();
  if (delivery.attempts.length === 0) {
    return <p className="quiet">No attempt yet.</p>;
  }
  return (
    <ol className={classes.attempts}>
      {delivery.attempts.map((attempt) => (
        <li key={attempt.at} data-failed={attempt.error !== null}>
          <div className={classes.attempt}>
            <span className={classes.outcome}>{outcomeOf(attempt)}</span>
            <span className="quiet">
              <time dateTime={attempt.at} title={dayAndTime(attempt.at)}>
                {clockWithSeconds(attempt.at)}
              </time>
              {attempt.duration_ms !== null && `, ${attempt.duration_ms} ms`}
            </span>
          </div>
          {attempt.answer !== null && attempt.answer !== '' && <pre className={classes.answer}>{attempt.answer}</pre>}
        </li>
      ))}
    </ol>
  );
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** A receiver under test checks signatures with its own secret, which the service does not show again, so none is sent. */
function curlOf({ body, headers }: Delivery): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = Object.entries(headers).filter(([name]) => !/^(?:user-agent|content-length)$/i.test(name));
  const lines = sent.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return ['curl http://localhost:3000/webhook', ...lines, `--data-raw ${quote(body)}`].join(' \\\n  ');
}
