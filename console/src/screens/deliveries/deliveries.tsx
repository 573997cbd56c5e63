import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type Entry, readList, REREAD_MS, SOON_MS } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { DayRange } from '../../ui/day-range.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { PartnerSelect } from '../../ui/partner-select.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, TwoLines } from '../../ui/table.tsx';
import { timesOf } from '../../ui/zoned-day.ts';
import { AttemptDots } from './attempts.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { type DeliveriesSearch, EVENTS, STATUSES } from './search.ts';
import { EVENT, outcomeOf, STATUS } from './words.ts';

type Delivery = Entry<'listWebhookDeliveries'>;

/** Every webhook delivery of the house, newest first. */
export function Deliveries() {
  const search = useSearch({ from: '/shell/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const { timezone } = useMe().tenant;
  const set = (change: DeliveriesSearch) => void navigate({ search: (present) => ({ ...present, ...change }) });
  const { status, event, partner, from, to, open } = search;
  const query = {
    status,
    event,
    credential_id: partner,
    ...timesOf(from, to, timezone),
  };
  const list = useInfiniteQuery({
    ...readList('listWebhookDeliveries', query, ['events', 'credentials']),
    refetchInterval: ({ state }) => (state.data?.pages.some(hasPending) ? SOON_MS : REREAD_MS),
  });
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return (
    <Page
      title="Deliveries"
      isLive
      filters={
        <>
          <ChipChoice
            label="Status"
            options={STATUSES.map((value) => ({ value, label: STATUS[value].label }))}
            value={status}
            onChange={(value) => set({ status: value })}
          />
          <FilterSelect
            label="Event"
            all="All events"
            width={170}
            value={event}
            options={EVENTS.map((value) => ({ value, label: EVENT[value] }))}
            onChange={(value) => set({ event: value })}
          />
          <PartnerSelect value={partner} onChange={(id) => set({ partner: id })} />
          <DayRange from={from} to={to} onChange={set} />
        </>
      }
    >
      <ListTable
        label="Deliveries"
        list={list}
        columns={useColumns()}
        keyOf={({ id }) => id}
        openKey={open}
        onOpen={({ id }) => set({ open: id })}
        empty={
          isFiltered
            ? { title: 'No delivery fits these filters.', action: <Link to="/deliveries">Show all deliveries</Link> }
            : {
                title: 'Nothing to deliver yet.',
                text: 'Each change of an order or a stay goes to the webhook of the partner that placed it. No partner with a webhook has one so far.',
                action: <Link to="/partners">Go to Partners</Link>,
              }
        }
      />
      <DeliveryDetail id={open} onClose={() => set({ open: undefined })} />
    </Page>
  );
}

function hasPending({ results }: { results: Delivery[] }): boolean {
  return results.some(({ status }) => status === 'pending');
}

function useColumns(): Column<Delivery>[] {
  const { moment } = useFormat();
  const now = useNow(10_000);
  return [
    {
      label: 'Event',
      cell: ({ event, subject }) => (
        <TwoLines first={EVENT[event as keyof typeof EVENT] ?? event} second={subject.external_id || subject.id} />
      ),
    },
    { label: 'Subject', isWideOnly: true, cell: ({ subject }) => subject.external_id || subject.id },
    { label: 'Partner', isWideOnly: true, cell: ({ credential_label }) => credential_label || 'No name' },
    { label: 'Status', cell: ({ status }) => <Status tone={STATUS[status].tone}>{STATUS[status].label}</Status> },
    { label: 'Attempts', cell: ({ attempts }) => <AttemptDots attempts={attempts} /> },
    {
      label: 'Last answer',
      isWideOnly: true,
      cell: (delivery) => <LastAnswer delivery={delivery} now={now} />,
    },
    { label: 'Since', isNumber: true, cell: ({ created_at }) => moment(created_at, now) },
  ];
}

function LastAnswer({ delivery, now }: { delivery: Delivery; now: number }) {
  const last = delivery.attempts.at(-1);
  const next = delivery.next_attempt_at === null ? null : Date.parse(delivery.next_attempt_at) - now;
  const words = last === undefined ? null : outcomeOf(last);
  const nextWords = next === null ? null : next > 0 ? `again in ${formatAge(next)}` : 'next attempt now';
  return <>{[words, nextWords].filter((each) => each !== null).join(', ')}</>;
}
