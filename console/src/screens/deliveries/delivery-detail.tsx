import { Code, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, REREAD_MS, SOON_MS } from '../../api/reads.ts';
import type { Answer } from '../../api/client.ts';
import { areasOf, isOwner, useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { Detail, Facts } from '../../ui/detail.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Moments } from '../../ui/history.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Note, Status } from '../../ui/status.tsx';
import { DeliveryStatus, eventInWords, MAX_ATTEMPTS, outcomeOf } from './status.tsx';

type Delivery = Answer<'getWebhookDelivery'>;

/** Where the guide for partners says what to check for each cause. */
const CAUSES = '/docs/guides/webhooks/#if-no-delivery-arrives';

export function DeliveryDetail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useQuery({
    ...read('getWebhookDelivery', id && { path: { id } }, ['events', 'credentials']),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? SOON_MS : REREAD_MS),
  });
  return (
    <Detail
      title={query.data === undefined ? 'Delivery' : eventInWords(query.data.event)}
      isOpen={id !== undefined}
      onClose={onClose}
    >
      <Loaded query={query}>{(delivery) => <Content delivery={delivery} />}</Loaded>
    </Detail>
  );
}

function Content({ delivery }: { delivery: Delivery }) {
  const { dayAndTime } = useFormat();
  const { subject, credential_id: partner, credential_label: label } = delivery;
  const mayReadPartner = isOwner(useMe());
  const { data } = useQuery(read('getStaffCredential', mayReadPartner && { path: { id: partner } }, ['credentials']));
  const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <Facts
        facts={[
          ['Status', <DeliveryStatus status={delivery.status} />],
          ['Partner', linkIf(mayReadPartner, '/partners', partner, label || 'No name')],
          data?.webhook_url ? ['Its webhook now', <code>{data.webhook_url}</code>] : null,
          [subject.type === 'order' ? 'Order' : 'Stay', <Subject {...subject} />],
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
        <CopyField label="Command for a shell" value={curlOf(headers, delivery.body)} />
      </Section>
      <Section title="What is sent">
        <CopyField label="Body, as it is signed" value={delivery.body} />
        <CopyField label="Headers without the signature" value={headers.join('\n')} />
      </Section>
    </>
  );
}

/** Words that lead to what they name, for those who may open it. */
function linkIf(may: boolean, to: '/partners' | '/orders' | '/stays', open: string, words: string) {
  if (!may) return words;
  return (
    <Link to={to} search={{ open }}>
      {words}
    </Link>
  );
}

/** The house knows an order or a stay by another number than its partner, so both stand here. */
function Subject({ type, id, external_id: partnersId }: Delivery['subject']) {
  const isOrder = type === 'order';
  const mayOpen = areasOf(useMe()).includes(isOrder ? 'orders' : 'hotel');
  const order = useQuery(read('getStaffOrder', isOrder && mayOpen && { path: { order_id: id } }, ['orders']));
  const stay = useQuery(read('getStaffReservation', !isOrder && mayOpen && { path: { id } }, ['reservations']));
  const number = order.data ? `#${order.data.number}` : stay.data?.natural_id;
  const words = [number, partnersId].filter(Boolean).join(', ') || id;
  return linkIf(mayOpen, isOrder ? '/orders' : '/stays', id, words);
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

function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  const { clockWithSeconds, dayAndTime } = useFormat();
  if (attempts.length === 0) return <p className="quiet">No attempt yet.</p>;
  return (
    <Moments>
      {attempts.map(({ at, duration_ms: ms, error, answer, ...attempt }) => (
        <Group key={at} component="li" justify="space-between" gap="6px 10px">
          <Status tone={error ? 'late' : 'good'}>{outcomeOf({ error, ...attempt })}</Status>
          <span className="quiet">
            <time dateTime={at} title={dayAndTime(at)}>
              {clockWithSeconds(at)}
            </time>
            {ms !== null && `, ${ms} ms`}
          </span>
          {answer && (
            <Code block w="100%" mah={160} style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}>
              {answer}
            </Code>
          )}
        </Group>
      ))}
    </Moments>
  );
}

/** A receiver under test checks signatures with its own secret, which the service does not show again, so none is sent. */
function curlOf(headers: string[], body: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = headers.filter((header) => !/^(?:user-agent|content-length):/i.test(header));
  const lines = [...sent.map((header) => `-H ${quote(header)}`), `--data-raw ${quote(body)}`];
  return ['curl http://localhost:3000/webhook', ...lines].join(' \\\n  ');
}
