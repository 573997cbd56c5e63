import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Answer, call } from '../../api/client.ts';
import type { Entry } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Failure } from '../../ui/failure.tsx';
import { plural, useFormat } from '../../ui/format.ts';
import { Status, type Tone } from '../../ui/status.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import classes from './drawer.module.css';
import { STATUS } from './statuses.ts';

type Order = Answer<'getStaffOrder'>;
type Delivery = Entry<'listWebhookDeliveries'>;

const WORDS: Record<Delivery['status'], [label: string, tone: Tone]> = {
  pending: ['Waits', 'warn'],
  delivered: ['Delivered', 'good'],
  failed: ['Failed', 'late'],
  stopped: ['Stopped', 'quiet'],
};
/** Most pages that are read. A page has the changes of 100 orders, and an order is open for an hour or so. */
const MOST_PAGES = 5;

/** The API has no filter by order, so the deliveries of its partner between its first and its last change are searched. */
function deliveriesQuery({ order_id: id, credential_id, history = [] }: Order) {
  const changes = history.slice(1);
  const [from, to] = [changes[0]?.at, changes.at(-1)?.at];
  return queryOptions({
    queryKey: ['deliveries of an order', id, to],
    enabled: from !== undefined && to !== undefined,
    meta: { topics: ['events'] },
    queryFn: async ({ signal }) => {
      const query = {
        credential_id,
        event: 'order.status_changed' as const,
        created_from: from,
        created_to: new Date(Date.parse(to ?? '') + 1_000).toISOString(),
        limit: 100,
      };
      const found: Delivery[] = [];
      let after: string | null = null;
      for (let count = 0; count < MOST_PAGES; count += 1) {
        const page: Answer<'listWebhookDeliveries'> = await call(
          'listWebhookDeliveries',
          { query: { ...query, ...(after === null ? {} : { after }) } },
          { signal },
        );
        found.push(...page.results.filter(({ subject }) => subject.id === id));
        after = page.next;
        if (after === null) break;
      }
      return found.reverse();
    },
  });
}

/** The order's events, each with what became of its delivery. */
export function OrderEvents({ order }: { order: Order }) {
  const now = useNow(60_000);
  const { moment } = useFormat();
  const { data, error, refetch } = useQuery(deliveriesQuery(order));
  if (order.history === undefined) return <Waiting rows={2} />;
  if (order.history.length < 2) {
    return <p className={classes.quiet}>Nothing yet. The partner hears of each change of the status.</p>;
  }
  if (data === undefined) return error ? <Failure error={error} retry={() => void refetch()} /> : <Waiting rows={2} />;
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
            {statusOf(delivery, order.history ?? [])}
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

/** Word for the status that the event tells: of the change that was made at its time. */
function statusOf({ created_at: at }: Delivery, history: NonNullable<Order['history']>): string {
  const distance = (entry: { at: string }) => Math.abs(Date.parse(entry.at) - Date.parse(at));
  const nearest = history.slice(1).reduce((one, other) => (distance(other) < distance(one) ? other : one));
  return STATUS[nearest.status].label;
}

function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  const answer = last.http_status === null ? (last.error ?? '') : String(last.http_status);
  return attempts.length === 1 ? answer : `${answer}, ${plural(attempts.length, 'attempt')}`;
}
