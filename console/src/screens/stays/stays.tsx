import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ComponentProps, useEffect, useState } from 'react';
import { find } from '../../api/find.ts';
import { type House, useHouse } from '../../api/house.ts';
import { read, readList } from '../../api/reads.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/day-step.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { FindField } from '../../ui/find-field.tsx';
import { addDays, formatDate } from '../../ui/format.ts';
import { NewButton, PrintButton } from '../../ui/new-button.tsx';
import { Page } from '../../ui/page.tsx';
import { PartnerSelect } from '../../ui/filter-select.tsx';
import { type Question, ReasonDialog } from '../../ui/reason-dialog.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, ShortList, TwoLines } from '../../ui/table.tsx';
import { NextButton } from './next-button.tsx';
import { type Asked, questionOf } from './questions.ts';
import { type StaysSearch, STATUSES } from './search.ts';
import { StayDialog } from './stay-dialog.tsx';
import { StayDrawer } from './stay-drawer.tsx';
import { dayQuery, FINDING } from './stay-lists.ts';
import { bookerOf, formatDates, SOURCE, type Stay, stateOf, STATUS } from './statuses.ts';

const VIEWS = { arrivals: 'Arrivals', departures: 'Departures', house: 'In house', all: 'All' } as const;
const EMPTY = {
  arrivals: 'Nobody arrives on this day.',
  departures: 'Nobody leaves on this day.',
  house: 'Nobody is in the house on this day.',
  all: 'No stay passes these filters.',
};

/** The stays: who comes, who goes, who is here, and the one that a guest on the phone asks for. */
export function Stays() {
  const search = useSearch({ from: '/shell/stays' });
  const navigate = useNavigate({ from: '/stays' });
  const house = useHouse();
  const [question, setQuestion] = useState<Question | null>(null);
  const [changing, setChanging] = useState<Stay | null>(null);
  const set = (change: StaysSearch) => {
    // A filter is no place to come back to, but a view and a stay are.
    const isPlace = 'open' in change || 'view' in change || 'new' in change;
    void navigate({ search: (present: StaysSearch) => ({ ...present, ...change }), replace: !isPlace });
  };
  const ask = (stay: Stay, to: Asked) => setQuestion(questionOf(stay, to, house.todayOf(stay)));
  const today = house.todayAt(search.property);
  const { view = 'arrivals', day = today, q } = search;
  const setDay = (next: string) => set({ day: next === today ? undefined : next });
  const [entered, setEntered] = useState<string>();
  const show = (next: StaysSearch['view']) => set({ view: next, q: undefined });
  useCommands(
    commandsOf('Stays', [
      ['p', 'Print this list', () => window.print()],
      ['1', 'Arrivals', () => show(undefined)],
      ['2', 'Departures', () => show('departures')],
      ['3', 'In house', () => show('house')],
      ['4', 'All stays', () => show('all')],
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
          <Views search={search} today={today} set={set} />
          {q === undefined && view !== 'all' && <DayStep day={day} today={today} onChange={setDay} />}
          {q === undefined && <Filters search={search} set={set} house={house} />}
        </>
      }
    >
      <h2 className="on-paper">{q ?? (view === 'all' ? 'All stays' : `${VIEWS[view]}, ${formatDate(day, 'year')}`)}</h2>
      {q === undefined ? (
        <List search={search} today={today} table={table} setDay={setDay} />
      ) : (
        <Found text={q} isEntered={entered === q} onLed={() => setEntered(undefined)} table={table} />
      )}
      <StayDrawer id={search.open} onClose={() => set({ open: undefined })} ask={ask} change={setChanging} />
      {house.properties && (
        <StayDialog
          stay={changing ?? (search.new ? 'new' : null)}
          property={search.property}
          onClose={() => (changing ? setChanging(null) : set({ new: undefined }))}
          open={(id) => set({ new: undefined, open: id })}
        />
      )}
      <ReasonDialog question={question} onClose={() => setQuestion(null)} />
    </Page>
  );
}

type StayTable = Pick<ComponentProps<typeof ShortList<Stay>>, 'label' | 'columns' | 'keyOf' | 'openKey' | 'onOpen'>;

interface ListProps {
  search: StaysSearch;
  today: string;
  table: StayTable;
  setDay: (day: string) => void;
}

/** The stays of a view. */
function List({ search, today, table, setDay }: ListProps) {
  const { view = 'arrivals', day = today, property, source, status, partner, type } = search;
  const isAll = view === 'all';
  const ofDay = useQuery({ ...dayQuery({ view: isAll ? 'arrivals' : view, day, today, property }), enabled: !isAll });
  const filters = { source, status, credential_id: partner, room_type_id: type, property_id: property };
  const all = useInfiniteQuery({ ...readList(FINDING.list, filters, FINDING.topics), enabled: isAll });
  const empty = {
    title: EMPTY[view],
    text: 'Stays that partners, OTAs or the house book appear here by themselves.',
    action: !isAll && (
      <Button variant="default" onClick={() => setDay(addDays(day, 1))}>
        Look at {formatDate(addDays(day, 1), 'weekday')}
      </Button>
    ),
  };
  return isAll ? (
    <ListTable {...table} list={all} empty={empty} />
  ) : (
    <ShortList {...table} list={ofDay} empty={empty} />
  );
}

interface FoundProps {
  text: string;
  /** The person has pressed Enter, and wants to be led to what is found. */
  isEntered: boolean;
  onLed: () => void;
  table: StayTable;
}

/** The stays that are found for a text. Enter opens the only one, or leads to the first one. */
function Found({ text, isEntered, onLed, table }: FoundProps) {
  const found = useQuery(find(FINDING, text));
  const results = found.isPlaceholderData ? undefined : found.data;
  useEffect(() => {
    if (!isEntered || results === undefined) return;
    onLed();
    const [first] = results;
    if (first && results.length === 1) table.onOpen?.(first);
    else document.querySelector<HTMLElement>('tbody button')?.focus();
  });
  return (
    <ShortList
      {...table}
      list={found}
      empty={{
        title: `Nothing found for “${text}”.`,
        text: 'Names are found by how they begin. A phone number, an e-mail and an id must be whole.',
      }}
    />
  );
}

interface FilterProps {
  search: StaysSearch;
  set: (change: StaysSearch) => void;
}

/** The views, with today's figures. */
function Views({ search, today, set }: FilterProps & { today: string }) {
  const { data } = useQuery(read('getToday', {}, ['reservations']));
  const { day, property, q, view } = search;
  // The figures count all properties today.
  const hotel = property === undefined && (day ?? today) === data?.hotel?.date ? data.hotel : undefined;
  const label = (name: keyof typeof VIEWS, count: number | undefined) => `${VIEWS[name]} ${count ?? ''}`.trim();
  return (
    <ChipChoice
      label="View"
      all={label('arrivals', hotel?.arrivals)}
      options={[
        { value: 'departures', label: label('departures', hotel?.departures) },
        { value: 'house', label: label('house', hotel?.in_house) },
        { value: 'all', label: VIEWS.all },
      ]}
      value={q === undefined ? view : null}
      onChange={(value) => set({ view: value, q: undefined })}
    />
  );
}

function Filters({ search, set, house: { properties = [], nameOf } }: FilterProps & { house: House }) {
  const types = properties.flatMap(({ room_types: ofProperty }) =>
    ofProperty.map(({ id }) => [id, nameOf(id)] as const),
  );
  const filter = (
    name: 'property' | 'source' | 'status' | 'type',
    [label, all]: [label: string, all: string],
    options: (readonly [value: string, label: string])[],
  ) => (
    <FilterSelect
      label={label}
      all={all}
      width={160}
      value={search[name]}
      options={options.map(([value, words]) => ({ value, label: words }))}
      onChange={(value) => set({ [name]: value })}
    />
  );
  return (
    <>
      {properties.length > 1 &&
        filter(
          'property',
          ['Property', 'All properties'],
          properties.map(({ id, name }) => [id, name]),
        )}
      {search.view === 'all' && (
        <>
          {filter('source', ['Source', 'Any source'], Object.entries(SOURCE))}
          {filter(
            'status',
            ['Status', 'Any status'],
            STATUSES.map((value) => [value, STATUS[value].label]),
          )}
          {filter('type', ['Room type', 'Any room type'], types)}
          <PartnerSelect value={search.partner} onChange={(partner) => set({ partner })} />
        </>
      )}
    </>
  );
}

const WHOLE = { whiteSpace: 'nowrap' } as const;

function columnsOf({ nameOf, todayOf }: House, ask: (stay: Stay, to: Asked) => void): Column<Stay>[] {
  const inShort = (stay: Stay) => [stateOf(stay).label, nameOf(stay.room_type_id), formatDates(stay)].join(', ');
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
