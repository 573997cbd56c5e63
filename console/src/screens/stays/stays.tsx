import { Button, Modal } from '@mantine/core';
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { type ComponentProps, type MouseEvent, useEffect, useState } from 'react';
import { find, isMeant, readList } from '../../api/reads.ts';
import { type House, useHouse } from '../../api/house.ts';
import { Chips, FilterSelect, FindField, PartnerSelect, PropertySelect } from '../../ui/filters.tsx';
import { useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/days.tsx';
import { addDays, formatDate } from '../../ui/format.ts';
import { Waiting } from '../../ui/loaded.tsx';
import { NewButton, Page, PrintButton } from '../../ui/page.tsx';
import { QuestionDialog } from '../../ui/question.tsx';
import { useAddress } from '../../ui/search.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, TwoLines } from '../../ui/table.tsx';
import { doNext, setArrived } from './moves.ts';
import type { StaysSearch } from './search.ts';
import { StayDrawer } from './stay-drawer.tsx';
import { StayForm } from './stay-form.tsx';
import { dayQuery, FINDING, isOverdue } from './stay-lists.ts';
import { bookerOf, formatDates, NEXT, nextOf, stateOf, STATUS, STATUSES, type Stay } from './statuses.ts';

const VIEWS = [
  { value: 'arrivals', label: 'Arrivals', none: 'Nobody arrives on this day.' },
  { value: 'departures', label: 'Departures', none: 'Nobody leaves on this day.' },
  { value: 'house', label: 'In house', none: 'Nobody is in the house on this day.' },
  { value: 'all', label: 'All', none: 'No stay passes these filters.' },
] as const;

/** The stays: who comes, who goes, who is here, and the one that a guest on the phone asks for. */
export function Stays() {
  const { search, set } = useAddress<StaysSearch>('view', 'open', 'new');
  const house = useHouse();
  const [changing, setChanging] = useState<Stay | null>(null);
  const today = house.todayAt(search.property);
  const { view = 'arrivals', day = today, q } = search;
  const setDay = (next: string) => set({ day: next === today ? undefined : next });
  const show = (next: typeof view) => set({ view: next === 'arrivals' ? undefined : next, q: undefined });
  const open = ({ reservation_id: id }: Stay) => set({ open: id });
  const finding = useFinding(q, today, open);
  const isFormOpen = (changing ?? search.new) !== undefined;
  const closeForm = () => (changing ? setChanging(null) : set({ new: undefined }));
  useCommands('Stays', [
    ['1', 'Arrivals', () => show('arrivals')],
    ['2', 'Departures', () => show('departures')],
    ['3', 'In house', () => show('house')],
    ['4', 'All stays', () => show('all')],
    ['p', 'Print this list', () => window.print()],
  ]);
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
              if (isEntered) finding.enter(text);
            }}
          />
          <Chips label="View" options={VIEWS} isPressed={(value) => q === undefined && value === view} onPress={show} />
          {q === undefined && view !== 'all' && <DayStep day={day} today={today} onChange={setDay} />}
          {q === undefined && (
            <PropertySelect all="All properties" value={search.property} onChange={(property) => set({ property })} />
          )}
          {q === undefined && view === 'all' && (
            <>
              <FilterSelect
                aria-label="Status"
                placeholder="Any status"
                w={160}
                value={search.status}
                data={STATUSES.map((value) => ({ value, label: STATUS[value].label }))}
                onChange={(status) => set({ status })}
              />
              <PartnerSelect value={search.partner} onChange={(partner) => set({ partner })} />
            </>
          )}
        </>
      }
    >
      <List {...{ search, today, setDay }} found={finding.found} columns={columnsOf(house)} onOpen={open} />
      <StayDrawer id={search.open} onClose={() => set({ open: undefined })} change={setChanging} />
      <Modal
        opened={isFormOpen}
        onClose={closeForm}
        closeOnClickOutside={false}
        size={560}
        title={changing ? `Change ${changing.natural_id} of ${changing.guest.name}` : 'New stay'}
      >
        {isFormOpen && house.properties === undefined && <Waiting />}
        {isFormOpen && house.properties && (
          <StayForm
            own={changing ?? undefined}
            property={search.property}
            onCancel={closeForm}
            onSaved={({ reservation_id: id }) => (changing ? closeForm() : set({ new: undefined, open: id }))}
          />
        )}
      </Modal>
      <QuestionDialog />
    </Page>
  );
}

/** The stays that are found for a text, first those of today, which the API does not find by a part of the name. After `enter`, the only one of them opens, or the first one gets the focus. */
function useFinding(q: string | undefined, today: string, open: (stay: Stay) => void) {
  const found = useQuery(find(FINDING, q));
  const [entered, enter] = useState<string>();
  const lists = useQueries({
    queries: (['arrivals', 'departures', 'house'] as const).map((view) => ({
      ...dayQuery(view, today, today, undefined),
      enabled: q !== undefined,
    })),
  });
  const near = lists.flatMap(({ data = [] }) => data).filter(({ guest }) => isMeant(q ?? '', guest.name, guest.phone));
  const all = [...near, ...(found.data ?? [])];
  const data = found.data && [...new Map(all.map((stay) => [FINDING.idOf(stay), stay])).values()];
  const isWhole = !found.isPlaceholderData && lists.every(({ isSuccess }) => isSuccess);
  const results = isWhole ? data : undefined;
  useEffect(() => {
    if (q === undefined || q !== entered || results === undefined) return;
    enter(undefined);
    const [first] = results;
    if (first && results.length === 1) open(first);
    else document.querySelector<HTMLElement>('tbody button')?.focus();
  });
  return { found: { ...found, data }, enter };
}

interface ListProps extends Pick<ComponentProps<typeof ListTable<Stay>>, 'columns' | 'onOpen'> {
  search: StaysSearch;
  today: string;
  setDay: (day: string) => void;
  found: ReturnType<typeof useFinding>['found'];
}

/** The stays of a view, or those that are found for a text. */
function List({ search, today, setDay, found, ...rest }: ListProps) {
  const { view = 'arrivals', day = today, q, property, status, partner } = search;
  const { label, none } = VIEWS.find(({ value }) => value === view) ?? VIEWS[0];
  const dayView = view === 'all' ? 'arrivals' : view;
  const ofDay = useQuery({
    ...dayQuery(dayView, day, today, property),
    enabled: view !== 'all' && q === undefined,
  });
  const all = useInfiniteQuery({
    ...readList(FINDING.list, { status, credential_id: partner, property_id: property }, FINDING.topics),
    enabled: view === 'all' && q === undefined,
  });
  const isLate = (stay: Stay) => isOverdue(stay, dayView, day);
  const groupOf = (stay: Stay) => (isLate(stay) ? 'Not reported yesterday' : 'Today');
  const isOfDay = q === undefined && view !== 'all';
  const noneFound = {
    title: `Nothing found for “${q}”.`,
    text: 'Guests of today are found by a part of the name or the phone number. All others are found by how the name begins, or by a whole phone number, e-mail or id.',
  };
  const noneHere = {
    title: none,
    text: 'Stays that partners, OTAs or the house book appear here by themselves.',
    action: isOfDay && (
      <Button variant="default" onClick={() => setDay(addDays(day, 1))}>
        Look at {formatDate(addDays(day, 1), 'weekday')}
      </Button>
    ),
  };
  return (
    <>
      <h2 className="on-paper">{q ?? (view === 'all' ? 'All stays' : `${label}, ${formatDate(day, 'year')}`)}</h2>
      <ListTable
        {...rest}
        label="Stays"
        keyOf={FINDING.idOf}
        openKey={search.open}
        list={q !== undefined ? found : isOfDay ? ofDay : all}
        empty={q === undefined ? noneHere : noneFound}
        {...(isOfDay && ofDay.data?.some(isLate) && { groupOf })}
      />
    </>
  );
}

const WHOLE = { whiteSpace: 'nowrap' } as const;

function columnsOf({ nameOf, todayOf }: House): Column<Stay>[] {
  const inShort = (stay: Stay) => [stateOf(stay).label, nameOf(stay.room_type_id), formatDates(stay)].join(' · ');
  return [
    {
      label: 'Guest',
      cell: (stay) => <TwoLines first={stay.guest.name} second={inShort(stay)} />,
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
    { label: 'Next', paper: 'never', cell: (stay) => <NextButton stay={stay} today={todayOf(stay)} /> },
  ];
}

/** The button of a row. Guests who have arrived by mistake have not arrived by the same button. */
function NextButton({ stay, today }: { stay: Stay; today: string }) {
  const [isSending, setSending] = useState(false);
  const next = nextOf(stay, today);
  const isBack = stay.status === 'confirmed' && stay.arrived_at !== null && stay.check_in === today;
  if (next === undefined && !isBack) return null;
  const label = next === undefined ? 'Undo' : NEXT[next];
  const press = async (event: MouseEvent<HTMLButtonElement>) => {
    event.stopPropagation();
    // The second press of a double press would hit the row that has moved up.
    if (event.detail > 1) return;
    const row = event.detail === 0 ? event.currentTarget.closest('tr') : null;
    const following = row?.nextElementSibling?.querySelector<HTMLElement>('[data-next]');
    setSending(true);
    await (next === undefined ? setArrived(stay, false) : doNext(stay, next, today));
    setSending(false);
    // A person at the keyboard goes on with the next row.
    if (next !== 'leave') following?.focus();
  };
  return (
    <Button
      variant={next === undefined ? 'subtle' : 'light'}
      size="compact-sm"
      data-next
      aria-label={`${label}: ${stay.guest.name}`}
      loading={isSending}
      onClick={(event) => void press(event)}
    >
      {label}
    </Button>
  );
}
