import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readPages } from '../api/read-pages.ts';
import type { Entry } from '../api/reads.ts';
import { useNow } from '../live/clock.ts';
import { Failure } from './failure.tsx';
import { plural, useFormat } from './format.ts';
import classes from './history.module.css';
import { Status, type Tone } from './status.tsx';
import { Waiting } from './waiting.tsx';

type Delivery = Entry<'listWebhookDeliveries'>;

interface Subject {
  /** Id of the order or the stay. */
  id: string;
  credentialId: string;
  /** What the partner hears of, the oldest first. */
  steps: { label: string; at: string }[] | undefined;
}

const WORDS: Record<Delivery['status'], [label: string, tone: Tone]> = {
  pending: ['Waits', 'warn'],
  delivered: ['Delivered', 'good'],
  failed: ['Failed', 'late'],
  stopped: ['Stopped', 'quiet'],
};
/** Most pages that are read of one span of time. A page has 100 deliveries. */
const MOST_PAGES = 5;
/** Events that are closer together are searched together. */
const SPAN_MS = 3_600_000;
/** An event may be made a moment before or after the change that causes it. */
const MARGIN_MS = 2_000;

/** The events of an order or a stay, each with what became of its delivery. */
export function EventDeliveries(subject: Subject) {
  const { steps } = subject;
  const now = useNow(60_000);
  const { moment } = useFormat();
  const { data, error, refetch } = useQuery(deliveriesQuery(subject));
  if (steps?.length === 0) {
    return <p className={classes.quiet}>Nothing yet. The partner hears of each change of the status.</p>;
  }
  if (steps === undefined || data === undefined) {
    return error ? <Failure error={error} retry={() => void refetch()} /> : <Waiting rows={2} />;
  }
  if (data.length === 0) {
    return (
      <p className={classes.quiet}>
        The partner has no webhook, so nothing was sent. It reads the events in its feed instead.
      </p>
    );
  }
  return (
    <ul className={classes.history}>
      {data.map((delivery) => (
        <li key={delivery.id}>
          <Link to="/deliveries" search={{ open: delivery.id }} className={classes.step}>
            {labelOf(delivery, steps)}
          </Link>
          <Status tone={WORDS[delivery.status][1]}>{WORDS[delivery.status][0]}</Status>
          <span className={classes.quiet}>{outcomeOf(delivery)}</span>
          <time dateTime={delivery.created_at} className={classes.time}>
            {moment(delivery.created_at, now)}
          </time>
        </li>
      ))}
    </ul>
  );
}

/** The API has no filter by subject, so the deliveries of its partner at the times of its changes are searched. */
function deliveriesQuery({ id, credentialId, steps = [] }: Subject) {
  return queryOptions({
    queryKey: ['deliveries of', id, steps.length],
    enabled: steps.length > 0,
    meta: { topics: ['events'] },
    queryFn: async ({ signal }) => {
      const spans = spansOf(steps.map(({ at }) => Date.parse(at)));
      const found = await Promise.all(
        spans.map((span) =>
          readPages('listWebhookDeliveries', { credential_id: credentialId, ...span }, MOST_PAGES, signal),
        ),
      );
      return found.flatMap((deliveries) => deliveries.filter(({ subject }) => subject.id === id).reverse());
    },
  });
}

function spansOf(times: number[]): { created_from: string; created_to: string }[] {
  const spans: { first: number; last: number }[] = [];
  for (const time of times) {
    const present = spans.at(-1);
    if (present !== undefined && time - present.last < SPAN_MS) present.last = time;
    else spans.push({ first: time, last: time });
  }
  return spans.map(({ first, last }) => ({
    created_from: new Date(first - MARGIN_MS).toISOString(),
    created_to: new Date(last + MARGIN_MS).toISOString(),
  }));
}

/** Word for what the event tells: the change that was made at its time. */
function labelOf({ created_at: at }: Delivery, steps: NonNullable<Subject['steps']>): string | undefined {
  const distance = (step: { at: string }) => Math.abs(Date.parse(step.at) - Date.parse(at));
  return steps.toSorted((one, other) => distance(one) - distance(other))[0]?.label;
}

function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  const answer = last.http_status === null ? (last.error ?? '') : String(last.http_status);
  return attempts.length === 1 ? answer : `${answer}, ${plural(attempts.length, 'attempt')}`;
}
