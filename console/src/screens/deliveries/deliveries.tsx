import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Entry, readList, REREAD_MS, SOON_MS } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { DayRange } from '../../ui/days.tsx';
import { FilterSelect, FoldedFilters, PartnerSelect } from '../../ui/filters.tsx';
import { formatAge, timesOf, useFormat } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/search.ts';
import { Breaking, type Column, ListTable, OneLine, TwoLines } from '../../ui/table.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import type { DeliveriesSearch } from './search.ts';
import { AttemptDots, DeliveryStatus, eventInWords, EVENTS, outcomeOf, STATUS, STATUSES } from './status.tsx';

type Delivery = Entry<'listWebhookDeliveries'>;

export function Deliveries() {
  const { search, set } = useAddress<DeliveriesSearch>('open');
  const { timezone } = useMe().tenant;
  const { status, event, partner, from, to, open } = search;
  const query = { status, event, credential_id: partner, ...timesOf(from, to, timezone) };
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
        <FoldedFilters
          label="Status"
          options={STATUSES.map((value) => ({ value, label: STATUS[value].label }))}
          value={status}
          onChange={(value) => set({ status: value })}
          others={[event, partner, from ?? to]}
        >
          <FilterSelect
            aria-label="Event"
            placeholder="All events"
            w={170}
            value={event}
            data={EVENTS.map((value) => ({ value, label: eventInWords(value) }))}
            onChange={(value) => set({ event: value })}
          />
          <PartnerSelect value={partner} onChange={(id) => set({ partner: id })} />
          <DayRange from={from} to={to} onChange={set} />
        </FoldedFilters>
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
      cell: (delivery) => <TwoLines first={eventInWords(delivery.event)} second={subjectOf(delivery)} />,
    },
    { label: 'Subject', isWideOnly: true, cell: (delivery) => <Breaking>{subjectOf(delivery)}</Breaking> },
    {
      label: 'Partner',
      isWideOnly: 'very',
      cell: ({ credential_label: label }) => <OneLine>{label || 'No name'}</OneLine>,
    },
    { label: 'Status', cell: ({ status }) => <DeliveryStatus status={status} /> },
    { label: 'Attempts', isWideOnly: true, cell: ({ attempts }) => <AttemptDots attempts={attempts} /> },
    { label: 'Last answer', isWideOnly: true, cell: (delivery) => lastAnswerOf(delivery, now) },
    { label: 'Since', isNumber: true, cell: ({ created_at }) => moment(created_at, now) },
  ];
}

function subjectOf({ subject }: Delivery): string {
  return subject.external_id || subject.id;
}

function lastAnswerOf({ attempts, next_attempt_at: next }: Delivery, now: number): string {
  const wait = next === null ? null : Date.parse(next) - now;
  const nextWords = wait === null ? [] : [wait > 0 ? `again in ${formatAge(wait)}` : 'next attempt now'];
  return [...attempts.slice(-1).map(outcomeOf), ...nextWords].join(', ');
}
