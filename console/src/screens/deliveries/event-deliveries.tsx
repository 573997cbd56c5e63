import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Entry, readPages, REREAD_MS, SOON_MS } from '../../api/reads.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { plural } from '../../ui/format.ts';
import { History, Moment, Moments, type Step } from '../../ui/history.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { DeliveryStatus, outcomeOf } from './status.tsx';

type Delivery = Entry<'listWebhookDeliveries'>;

interface StoryProps {
  id: string;
  /** Null: no partner hears of it. */
  credentialId: string | null;
  steps: Step[] | undefined;
  /** Steps of which the partner hears. */
  told: Step[] | undefined;
}

/** Most pages that are read of one span of time. A page has 100 deliveries. */
const MOST_PAGES = 5;
/** Changes in the same span are searched together. */
const SPAN_MS = 3_600_000;
/** An event may be made a moment before or after the change that causes it. */
const MARGIN_MS = 2_000;

/** Last parts of a drawer: what happened to an order or a stay, and what its partner was told. */
export function Story({ id, credentialId, steps, told }: StoryProps) {
  const mayReadDeliveries = areasOf(useMe()).includes('deliveries');
  return (
    <>
      <Section title="History">
        <History steps={steps} />
      </Section>
      {mayReadDeliveries && credentialId !== null && (
        <Section title="Told to the partner">
          <EventDeliveries id={id} credentialId={credentialId} steps={told} />
        </Section>
      )}
    </>
  );
}

interface EventsProps {
  id: string;
  credentialId: string;
  /** What the partner hears of, the oldest first. */
  steps: Step[] | undefined;
}

function EventDeliveries({ id, credentialId, steps }: EventsProps) {
  const query = useQuery({
    ...deliveriesQuery(id, credentialId, steps ?? []),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'pending') ? SOON_MS : REREAD_MS),
  });
  if (steps?.length === 0) {
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
          <Moments>
            {deliveries.map((delivery) => (
              <Moment key={delivery.id} label={<EventLink of={delivery} steps={steps} />} at={delivery.created_at}>
                <DeliveryStatus status={delivery.status} />
                <span className="quiet">{lastOutcomeOf(delivery)}</span>
              </Moment>
            ))}
          </Moments>
        )
      }
    </Loaded>
  );
}

/** Names an event by what it tells: the change that was made at its time. */
function EventLink({ of: { id, created_at: at }, steps = [] }: { of: Delivery; steps: Step[] | undefined }) {
  const distance = (step: Step) => Math.abs(Date.parse(step.at) - Date.parse(at));
  const [nearest] = steps.toSorted((one, other) => distance(one) - distance(other));
  return (
    <Link to="/deliveries" search={{ open: id }}>
      {nearest?.label}
    </Link>
  );
}

/** The API has no filter by subject, so the deliveries of its partner at the times of its changes are searched. */
function deliveriesQuery(id: string, credentialId: string, steps: Step[]) {
  return queryOptions({
    queryKey: ['deliveries of', id, steps.length],
    enabled: steps.length > 0,
    meta: { topics: ['events'] },
    queryFn: async ({ signal }) => {
      const read = (span: object) =>
        readPages('listWebhookDeliveries', { credential_id: credentialId, ...span }, MOST_PAGES, signal);
      const found = await Promise.all(spansOf(steps.map(({ at }) => Date.parse(at))).map(read));
      const own = found.flat().filter(({ subject }) => subject.id === id);
      // The margins of two spans may have the same delivery.
      const once = [...new Map(own.map((delivery) => [delivery.id, delivery])).values()];
      return once.toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
    },
  });
}

function spansOf(times: number[]) {
  const spans = [...Map.groupBy(times, (time) => Math.floor(time / SPAN_MS)).values()];
  return spans.map((span) => ({
    created_from: new Date(Math.min(...span) - MARGIN_MS).toISOString(),
    created_to: new Date(Math.max(...span) + MARGIN_MS).toISOString(),
  }));
}

function lastOutcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  return attempts.length === 1 ? outcomeOf(last) : `${outcomeOf(last)}, ${plural(attempts.length, 'attempt')}`;
}
