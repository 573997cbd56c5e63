import { Button, Modal } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ComponentProps, useEffect, useState } from 'react';
import { find } from '../../api/find.ts';
import { type House, useHouse } from '../../api/house.ts';
import { readList } from '../../api/reads.ts';
import { ChipChoice, FilterSelect, FindField, PartnerSelect, PropertySelect } from '../../ui/filters.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/days.tsx';
import { addDays, formatDate } from '../../ui/format.ts';
import { NewButton, Page, PrintButton } from '../../ui/page.tsx';
import { type Question, ReasonDialog } from '../../ui/reason-dialog.tsx';
import { useAddress } from '../../ui/search.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, ShortList, TwoLines } from '../../ui/table.tsx';
import { NextButton } from './next-button.tsx';
import { type Asked, questionOf } from './questions.ts';
import type { StaysSearch } from './search.ts';
import { StayDrawer } from './stay-drawer.tsx';
import { StayForm } from './stay-form.tsx';
import { dayQuery, FINDING } from './stay-lists.ts';
import { bookerOf, formatDates, stateOf, STATUS, STATUSES, type Stay } from './statuses.ts';

const VIEWS = [
  { value: 'departures', label: 'Departures' },
  { value: 'house', label: 'In house' },
  { value: 'all', label: 'All' },
] as const;
const HEADINGS = { arrivals: 'Arrivals', departures: 'Departures', house: 'In house' };
const EMPTY = {
  arrivals: 'Nobody arrives on this day.',
  departures: 'Nobody leaves on this day.',
  house: 'Nobody is in the house on this day.',
  all: 'No stay passes these filters.',
};

/** The stays: who comes, who goes, who is here, and the one that a guest on the phone asks for. */
export function Stays() {
  const { search, set } = useAddress<StaysSearch>('view', 'open', 'new');
  const house = useHouse();
  const [question, setQuestion] = useState<Question | null>(null);
  const [changing, setChanging] = useState<Stay | null>(null);
  const ask = (stay: Stay, to: Asked) => setQuestion(questionOf(stay, to, house.todayOf(stay)));
  const today = house.todayAt(search.property);
  const { view = 'arrivals', day = today, q } = search;
  const setDay = (next: string) => set({ day: next === today ? undefined : next });
  const [entered, setEntered] = useState<string>();
  const isFormOpen = house.properties !== undefined && (changing ?? search.new) !== undefined;
  const closeForm = () => (changing ? setChanging(null) : set({ new: undefined }));
  const show = (next: StaysSearch['view']) => set({ view: next, q: undefined });
  useCommands(
    commandsOf('Stays', [
      ['1', 'Arrivals', () => show(undefined)],
      ['2', 'Departures', () => show('departures')],
      ['3', 'In house', () => show('house')],
      ['4', 'All stays', () => show('all')],
      ['p', 'Print this list', () => window.print()],
    ]),
  );
  const table = {
    label: 'Stays',
    columns: columnsOf(house, ask),
    keyOf: FINDING.idOf,
    openKey: search.open,
    onOpen: ({ reservation_id: id }: Stay) => set({ open: id }),
  };
  return (
    <Page
      title="Stays"
      isLive
      actions={
        <>
          <PrintButton />
          <NewButton label="New stay" group="Stays" onPress={() => set({ new: '1' })} />
        </>
      }
      filters={
        <>
          <FindField
            label="Find a stay"
            placeholder="Reference, name, phone, e-mail, id"
            text={q}
            onFind={(text, isEntered) => {
              set({ q: text });
              if (isEntered) setEntered(text);
            }}
          />
          <ChipChoice
            label="View"
            all="Arrivals"
            options={VIEWS}
            value={q === undefined ? search.view : null}
            onChange={show}
          />
          {q === undefined && view !== 'all' && <DayStep day={day} today={today} onChange={setDay} />}
          {q === undefined && (
            <PropertySelect all="All properties" value={search.property} onChange={(property) => set({ property })} />
          )}
          {q === undefined && view === 'all' && (
            <>
              <FilterSelect
                label="Status"
                all="Any status"
                width={160}
                value={search.status}
                options={STATUSES.map((value) => ({ value, label: STATUS[value].label }))}
                onChange={(status) => set({ status })}
              />
              <PartnerSelect value={search.partner} onChange={(partner) => set({ partner })} />
            </>
          )}
        </>
      }
    >
      <h2 className="on-paper">
        {q ?? (view === 'all' ? 'All stays' : `${HEADINGS[view]}, ${formatDate(day, 'year')}`)}
      </h2>
      <List
        {...{ search, today, table, setDay }}
        isEntered={q !== undefined && entered === q}
        onLed={() => setEntered(undefined)}
      />
      <StayDrawer id={search.open} onClose={() => set({ open: undefined })} ask={ask} change={setChanging} />
      <Modal
        opened={isFormOpen}
        onClose={closeForm}
        closeOnClickOutside={false}
        size={560}
        title={changing ? `Change ${changing.natural_id} of ${changing.guest.name}` : 'New stay'}
      >
        {isFormOpen && (
          <StayForm
            own={changing ?? undefined}
            property={search.property}
            onCancel={closeForm}
            onSaved={({ reservation_id: id }) => (changing ? closeForm() : set({ new: undefined, open: id }))}
          />
        )}
      </Modal>
      <ReasonDialog question={question} onClose={() => setQuestion(null)} />
    </Page>
  );
}

interface ListProps {
  search: StaysSearch;
  today: string;
  table: Pick<ComponentProps<typeof ShortList<Stay>>, 'label' | 'columns' | 'keyOf' | 'openKey' | 'onOpen'>;
  setDay: (day: string) => void;
  /** The person has pressed Enter in the search, and wants to be led to what is found. */
  isEntered: boolean;
  onLed: () => void;
}

/** The stays of a view, or those that are found for a text: Enter opens the only one, or leads to the first one. */
function List({ search, today, table, setDay, isEntered, onLed }: ListProps) {
  const { view = 'arrivals', day = today, q, property, status, partner } = search;
  const isAll = view === 'all';
  const dayView = isAll ? 'arrivals' : view;
  const found = useQuery(find(FINDING, q));
  const ofDay = useQuery({ ...dayQuery({ view: dayView, day, today, property }), enabled: !isAll && q === undefined });
  const filters = { status, credential_id: partner, property_id: property };
  const all = useInfiniteQuery({
    ...readList(FINDING.list, filters, FINDING.topics),
    enabled: isAll && q === undefined,
  });
  const results = found.isPlaceholderData ? undefined : found.data;
  useEffect(() => {
    if (!isEntered || results === undefined) return;
    onLed();
    const [first] = results;
    if (first && results.length === 1) table.onOpen?.(first);
    else document.querySelector<HTMLElement>('tbody button')?.focus();
  });
  if (q !== undefined) {
    const text = 'Names are found by how they begin. A phone number, an e-mail and an id must be whole.';
    return <ShortList {...table} list={found} empty={{ title: `Nothing found for “${q}”.`, text }} />;
  }
  const empty = {
    title: EMPTY[view],
    text: 'Stays that partners, OTAs or the house book appear here by themselves.',
    action: !isAll && (
      <Button variant="default" onClick={() => setDay(addDays(day, 1))}>
        Look at {formatDate(addDays(day, 1), 'weekday')}
      </Button>
    ),
  };
  if (isAll) return <ListTable {...table} list={all} empty={empty} />;
  return <ShortList {...table} list={ofDay} empty={empty} />;
}

const WHOLE = { whiteSpace: 'nowrap' } as const;

function columnsOf({ nameOf, todayOf }: House, ask: (stay: Stay, to: Asked) => void): Column<Stay>[] {
  const inShort = (stay: Stay) => [stateOf(stay).label, nameOf(stay.room_type_id), formatDates(stay)].join(' · ');
  return [
    {
      label: 'Guest',
      cell: (stay) => (
        <span style={{ overflowWrap: 'break-word' }}>
          <TwoLines first={stay.guest.name} second={inShort(stay)} />
        </span>
      ),
    },
    { label: 'Phone', paper: 'only', cell: ({ guest }) => guest.phone },
    { label: 'Guests', isNumber: true, paper: 'only', cell: ({ guests }) => guests },
    { label: 'Room type', isWideOnly: true, cell: (stay) => nameOf(stay.room_type_id) },
    { label: 'Nights', isWideOnly: true, cell: (stay) => <span style={WHOLE}>{formatDates(stay)}</span> },
    { label: 'Booked by', isWideOnly: 'very', cell: bookerOf },
    { label: 'Reference', isWideOnly: true, cell: (stay) => <code style={WHOLE}>{stay.natural_id}</code> },
    {
      label: 'Status',
      isWideOnly: true,
      cell: (stay) => <Status tone={stateOf(stay).tone}>{stateOf(stay).label}</Status>,
    },
    { label: 'Next', paper: 'never', cell: (stay) => <NextButton stay={stay} today={todayOf(stay)} ask={ask} /> },
  ];
}
