import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { type Entry, readPages } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { plural, useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Status } from '../../ui/status.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { outcomeOf, STATUS as DELIVERY } from '../deliveries/words.ts';
import classes from './drawer.module.css';
import { countOf, type Order as Row, STATUS } from './statuses.ts';

type Order = Answer<'getStaffOrder'>;
type Delivery = Entry<'listWebhookDeliveries'>;

/** Lines of an order, with the arithmetic that leads to its total. */
export function Sum({ order: { lines, total } }: { order: Row }) {
  const { money } = useFormat();
  const arithmeticOf = ({ quantity, variant, addons, unit_price, extra_tax_percentage }: Row['lines'][number]) => {
    const dish = variant === null ? money(unit_price) : `${variant} ${money(unit_price)}`;
    const extras = addons.map(
      (addon) => `${addon.name.replace(/^\+\s*/, '')} ${countOf(addon.quantity)}${money(addon.price)}`,
    );
    const each = [dish, ...extras].join(' + ');
    const tax = Number(extra_tax_percentage);
    return `${quantity} × ${extras.length === 0 ? each : `(${each})`}${tax === 0 ? '' : ` + ${tax} % tax`}`;
  };
  return (
    <ul className={classes.sum}>
      {lines.map((line, index) => (
        <li key={index}>
          <b>
            {line.quantity} × {line.name}
          </b>
          <span>{money(line.total)}</span>
          <span className="quiet">{arithmeticOf(line)}</span>
        </li>
      ))}
      <li>
        <b>Total</b>
        <b>{money(total)}</b>
      </li>
    </ul>
  );
}

const BY: Record<string, string> = {
  sandbox: 'the simulated kitchen',
  operator: 'an operator',
  partner: 'the partner',
  display: 'a display',
  channel: 'a channel',
  person: 'somebody',
};

/** Who gave the order which status, and when. */
export function History({ entries }: { entries: Order['history'] }) {
  if (entries === undefined) return <Waiting rows={2} />;
  return (
    <ol className={classes.history}>
      {entries.map(({ status, at, by }) => (
        <Step key={`${status} ${at}`} at={at}>
          <b>{status === 'pending' ? 'Placed' : STATUS[status].label}</b>
          <span className="quiet">by {by.name ?? BY[by.type]}</span>
        </Step>
      ))}
    </ol>
  );
}

function Step({ at, children }: { at: string; children: ReactNode }) {
  const now = useNow(60_000);
  const { moment } = useFormat();
  return (
    <li>
      {children}
      <time dateTime={at} className="quiet">
        {moment(at, now)}
      </time>
    </li>
  );
}

/** The API has no filter by order, so the deliveries of its partner between its first and its last change are searched. */
function deliveriesQuery({ order_id: id, credential_id, history = [] }: Order) {
  const changes = history.slice(1);
  const [from, to] = [changes[0]?.at, changes.at(-1)?.at];
  return queryOptions({
    queryKey: ['deliveries of an order', id, to],
    enabled: to !== undefined,
    meta: { topics: ['events'] },
    queryFn: async ({ signal }) => {
      const query = {
        credential_id,
        event: 'order.status_changed',
        created_from: from,
        created_to: new Date(Date.parse(to ?? '') + 1_000).toISOString(),
        limit: 100,
      };
      const found = await readPages('listWebhookDeliveries', query, signal);
      return found.filter(({ subject }) => subject.id === id).toReversed();
    },
  });
}

/** The order's events, each with what became of its delivery. */
export function OrderEvents({ order }: { order: Order }) {
  const { history = [] } = order;
  const query = useQuery(deliveriesQuery(order));
  if (history.length === 1) {
    return <p className="quiet">Nothing yet. The partner hears of each change of the status.</p>;
  }
  return (
    <Loaded query={query} rows={2}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <p className="quiet">
            The partner has no webhook, so nothing was sent. It reads the events in its feed instead.
          </p>
        ) : (
          <ul className={classes.history}>
            {deliveries.map((delivery) => (
              <Step key={delivery.id} at={delivery.created_at}>
                <Link to="/deliveries" search={{ open: delivery.id }}>
                  {statusOf(delivery, history)}
                </Link>
                <Status tone={DELIVERY[delivery.status].tone}>{DELIVERY[delivery.status].label}</Status>
                <span className="quiet">{lastOutcome(delivery)}</span>
              </Step>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

/** Word for the status that the event tells: of the change that was made at its time. */
function statusOf({ created_at: at }: Delivery, history: NonNullable<Order['history']>): string {
  const distance = (entry: { at: string }) => Math.abs(Date.parse(entry.at) - Date.parse(at));
  const nearest = history.slice(1).reduce((one, other) => (distance(other) < distance(one) ? other : one));
  return STATUS[nearest.status].label;
}

function lastOutcome({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  return attempts.length === 1 ? outcomeOf(last) : `${outcomeOf(last)}, ${plural(attempts.length, 'attempt')}`;
}
