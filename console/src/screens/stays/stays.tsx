import { Button, Tooltip } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { type House, useHouse } from '../../api/house.ts';
import { read, readList } from '../../api/reads.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { type Command, useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/day-step.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { FindField } from '../../ui/find-field.tsx';
import { addDays, formatDate } from '../../ui/format.ts';
import { PlusIcon, PrintIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { PartnerSelect } from '../../ui/filter-select.tsx';
import { type Question, ReasonDialog } from '../../ui/reason-dialog.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, TwoLines } from '../../ui/table.tsx';
import { NextButton } from './next-button.tsx';
import { type Asked, questionOf } from './questions.ts';
import { SOURCES, type StaysSearch, STATUSES } from './search.ts';
import { StayDialog } from './stay-dialog.tsx';
import { StayDrawer } from './stay-drawer.tsx';
import { dayQuery, findQuery } from './stay-lists.ts';
import classes from './stays.module.css';
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
  const set = useCallback(
    (change: StaysSearch) => {
      // A filter is no place to come back to, but a view and a stay are.
      const isPlace = 'open' in change || 'view' in change || 'new' in change;
      void navigate({ search: (present: StaysSearch) => ({ ...present, ...change }), replace: !isPlace });
    },
    [navigate],
  );
  const ask = useCallback((stay: Stay, to: Asked) => setQuestion(questionOf(stay, to, house.todayOf(stay))), [house]);
  const today = house.todayAt(search.property);
  const { view = 'arrivals', day = today, q } = search;
  const setDay = useCallback((next: string) => set({ day: next === today ? undefined : next }), [set, today]);
  const { list, find } = useList(search, today, (id) => set({ open: id }));
  useScreenCommands(set);
  return (
    <Page
      title="Stays"
      isLive
      actions={
        <>
          <Button
            variant="default"
            visibleFrom="sm"
            leftSection={<PrintIcon size={16} />}
            onClick={() => window.print()}
          >
            Print
          </Button>
          <Tooltip label="New stay (n)">
            <Button leftSection={<PlusIcon size={16} />} onClick={() => set({ new: '1' })}>
              New stay
            </Button>
          </Tooltip>
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
              if (isEntered) find(text);
            }}
          />
          <Views search={search} today={today} set={set} />
          {q === undefined && view !== 'all' && <DayStep day={day} today={today} onChange={setDay} />}
          {q === undefined && <Filters search={search} set={set} house={house} />}
        </>
      }
    >
      <h2 className="on-paper">{q ?? (view === 'all' ? 'All stays' : `${VIEWS[view]}, ${formatDate(day, 'year')}`)}</h2>
      <ListTable
        label="Stays"
        list={list}
        columns={columnsOf(house, ask)}
        keyOf={({ reservation_id: id }) => id}
        openKey={search.open}
        onOpen={({ reservation_id: id }) => set({ open: id })}
        empty={
          q === undefined
            ? {
                title: EMPTY[view],
                text: 'Stays that partners, OTAs or the house book appear here by themselves.',
                action: view !== 'all' && (
                  <Button variant="default" onClick={() => setDay(addDays(day, 1))}>
                    Look at {formatDate(addDays(day, 1), 'weekday')}
                  </Button>
                ),
              }
            : {
                title: `Nothing found for “${q}”.`,
                text: 'Names are found by how they begin. A phone number, an e-mail and an id must be whole.',
              }
        }
      />
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

/** The list that the address asks for. `find` opens the only stay that is found for a text, or leads to the first one. */
function useList(search: StaysSearch, today: string, open: (id: string) => void) {
  const { view = 'arrivals', day = today, property, q } = search;
  const isDay = view !== 'all' && q === undefined;
  const ofDay = useQuery({
    ...dayQuery({ view: view === 'all' ? 'arrivals' : view, day, today, property }),
    enabled: isDay,
  });
  const found = useQuery(findQuery(q ?? ''));
  const { source, status, partner, type } = search;
  const filters = { source, status, credential_id: partner, room_type_id: type, property_id: property };
  const all = useInfiniteQuery({
    ...readList('listStaffReservations', filters, ['reservations']),
    enabled: view === 'all' && q === undefined,
  });
  const [wanted, find] = useState<string>();
  const results = found.isPlaceholderData ? undefined : found.data?.results;
  useEffect(() => {
    if (wanted === undefined || wanted !== q || results === undefined) return;
    find(undefined);
    const [first] = results;
    if (first && results.length === 1) open(first.reservation_id);
    else document.querySelector<HTMLElement>('tbody button')?.focus();
  });
  const short = q === undefined ? ofDay : found;
  const pages = short.data && { pages: [short.data] };
  const { error, refetch } = short;
  const one = { data: pages, error, refetch, hasNextPage: false, isFetchingNextPage: false, fetchNextPage: refetch };
  return { list: isDay || q !== undefined ? one : all, find };
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
  const hotel = property === undefined && (day ?? today) === data?.hotel?.date ? data.hotel : null;
  const label = (name: keyof typeof VIEWS, count: number | undefined) =>
    count === undefined ? VIEWS[name] : `${VIEWS[name]} ${count}`;
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

function Filters({ search, set, house }: FilterProps & { house: House }) {
  const { properties = [], nameOf } = house;
  const types = properties.flatMap(({ room_types: all }) => all.map(({ id }) => ({ value: id, label: nameOf(id) })));
  return (
    <>
      {properties.length > 1 && (
        <FilterSelect
          label="Property"
          all="All properties"
          width={170}
          value={search.property}
          options={properties.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(property) => set({ property })}
        />
      )}
      {search.view === 'all' && (
        <>
          <FilterSelect
            label="Source"
            all="Any source"
            width={140}
            value={search.source}
            options={SOURCES.map((value) => ({ value, label: SOURCE[value] }))}
            onChange={(source) => set({ source })}
          />
          <FilterSelect
            label="Status"
            all="Any status"
            width={140}
            value={search.status}
            options={STATUSES.map((value) => ({ value, label: STATUS[value].label }))}
            onChange={(status) => set({ status })}
          />
          <FilterSelect
            label="Room type"
            all="Any room type"
            width={170}
            value={search.type}
            options={types}
            onChange={(type) => set({ type })}
          />
          <PartnerSelect value={search.partner} onChange={(partner) => set({ partner })} />
        </>
      )}
    </>
  );
}

function columnsOf({ nameOf, todayOf }: House, ask: (stay: Stay, to: Asked) => void): Column<Stay>[] {
  const inShort = (stay: Stay) => [stateOf(stay).label, nameOf(stay.room_type_id), formatDates(stay)].join(', ');
  return [
    {
      label: 'Guest',
      cell: (stay) => (
        <span className={classes.name}>
          <TwoLines first={stay.guest.name} second={inShort(stay)} />
        </span>
      ),
    },
    { label: 'Phone', paper: 'only', cell: ({ guest }) => guest.phone },
    { label: 'Guests', isNumber: true, paper: 'only', cell: ({ guests }) => guests },
    { label: 'Room type', isWideOnly: true, cell: (stay) => nameOf(stay.room_type_id) },
    { label: 'Nights', isWideOnly: true, cell: (stay) => <span className={classes.whole}>{formatDates(stay)}</span> },
    { label: 'Booked by', isWideOnly: 'very', cell: bookerOf },
    { label: 'Reference', isWideOnly: true, cell: (stay) => <code className={classes.whole}>{stay.natural_id}</code> },
    {
      label: 'Status',
      isWideOnly: true,
      cell: (stay) => <Status tone={stateOf(stay).tone}>{stateOf(stay).label}</Status>,
    },
    { label: 'Next', paper: 'never', cell: (stay) => <NextButton stay={stay} today={todayOf(stay)} ask={ask} /> },
  ];
}

function useScreenCommands(set: (change: StaysSearch) => void): void {
  const commands = useMemo<Command[]>(() => {
    const view = (name: StaysSearch['view']) => () => set({ view: name, q: undefined });
    return [
      { id: 'new', label: 'New stay', group: 'Stays', keys: 'n', run: () => set({ new: '1' }) },
      { id: 'print', label: 'Print this list', group: 'Stays', keys: 'p', run: () => window.print() },
      { id: 'arrivals', label: 'Arrivals', group: 'Stays', keys: '1', run: view(undefined) },
      { id: 'departures', label: 'Departures', group: 'Stays', keys: '2', run: view('departures') },
      { id: 'in house', label: 'In house', group: 'Stays', keys: '3', run: view('house') },
      { id: 'all', label: 'All stays', group: 'Stays', keys: '4', run: view('all') },
    ];
  }, [set]);
  useCommands(commands);
}
