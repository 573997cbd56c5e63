import { Button, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Entry, read, readList } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { type CsvColumn, downloadCsv } from '../../ui/csv.ts';
import { DayRange } from '../../ui/days.tsx';
import { ChipToggles, FilterSelect } from '../../ui/filters.tsx';
import { formatDate, timesOf, useFormat } from '../../ui/format.ts';
import { DownloadIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/search.ts';
import { Breaking, type Column, ListTable } from '../../ui/table.tsx';
import type { AuditSearch } from './search.ts';
import { factsOf, sentenceOf, SENTENCES } from './words.ts';

type AuditEntry = Entry<'listAudit'>;

const ACTIONS = Object.keys(SENTENCES).map((action) => ({
  value: action,
  label: sentenceOf(action, {}).replace('*', '…'),
}));

/** Who did what in the house, newest first. */
export function Audit() {
  const { search, set } = useAddress<AuditSearch>();
  const { timezone } = useMe().tenant;
  const { clock, dayOf } = useFormat();
  const { created_from: first, created_to: end } = timesOf(search.from, search.to, timezone);
  const query = { action: search.action, actor_id: search.actor, subject: search.subject, from: first, to: end };
  const list = useInfiniteQuery(
    readList('listAudit', query, ['menu', 'rooms', 'rates', 'reservations', 'credentials', 'people', 'pause']),
  );
  const { data: entries = [] } = list;
  const today = dayOf(serverNow());
  const dayTitle = (day: string) =>
    day === today ? 'Today' : formatDate(day, day.slice(0, 4) === today.slice(0, 4) ? 'weekday' : 'year');
  const columns: Column<AuditEntry>[] = [
    { label: 'Time', cell: ({ at }) => <time dateTime={at}>{clock(at)}</time> },
    { label: 'What happened', cell: (entry) => <Sentence entry={entry} /> },
  ];
  return (
    <Page
      title="Audit"
      isLive
      actions={
        entries.length > 0 && (
          <Button
            leftSection={<DownloadIcon size={16} />}
            variant="default"
            onClick={() => downloadCsv(`audit-${today}.csv`, CSV_COLUMNS, entries, timezone)}
          >
            CSV of these {entries.length.toLocaleString()}
          </Button>
        )
      }
      filters={
        <>
          <FilterSelect
            aria-label="Action"
            placeholder="All actions"
            w={280}
            searchable
            value={search.action}
            data={ACTIONS}
            onChange={(action) => set({ action })}
          />
          <ActorSelect value={search.actor} onChange={(actor) => set({ actor })} />
          <DayRange from={search.from} to={search.to} onChange={set} />
          {search.subject !== undefined && (
            <ChipToggles
              label="Subject"
              options={[{ value: search.subject, label: `About ${entries[0]?.subject_label ?? search.subject}` }]}
              values={[search.subject]}
              onChange={([subject]) => set({ subject })}
            />
          )}
        </>
      }
    >
      <ListTable
        label="Audit"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        groupOf={({ at }) => dayTitle(dayOf(at))}
        empty={{
          title: 'Nothing was done that passes these filters.',
          action: <Link to="/audit">Show everything</Link>,
        }}
      />
    </Page>
  );
}

function ActorSelect(props: { value: string | undefined; onChange: (id: string | undefined) => void }) {
  const { data: people = [] } = useQuery(read('listPeople', {}, ['people']));
  const { data: displays = [] } = useQuery(read('listDisplays', {}, ['people']));
  const { data: partners = [] } = useQuery(read('listStaffCredentials', {}, ['credentials']));
  const groups = [
    { group: 'People', items: people.map(({ id, name, email }) => ({ value: id, label: name ?? email })) },
    { group: 'Displays', items: displays.map(({ id, label }) => ({ value: id, label })) },
    { group: 'Partners', items: partners.map(({ id, label }) => ({ value: id, label: label || 'No name' })) },
  ];
  const options = groups.filter(({ items }) => items.length > 0);
  return <FilterSelect aria-label="Person" placeholder="Everybody" w={180} searchable data={options} {...props} />;
}

const NAME = { color: 'inherit', fontWeight: 600, textDecoration: 'none' } as const;

/** The names in a sentence filter by whom they name. */
function Sentence({ entry }: { entry: AuditEntry }) {
  const { actor, action, subject, details } = entry;
  const [before, after] = sentenceOf(action, details).split('*');
  return (
    <Breaking>
      <Link to="/audit" search={{ actor: actor.id ?? undefined }} style={NAME}>
        {actorOf(entry)}
      </Link>{' '}
      {before}
      {after !== undefined && (
        <Link to="/audit" search={{ subject }} style={NAME}>
          {subjectOf(entry)}
        </Link>
      )}
      {after}
      <Text span display="block" fz="0.8125rem" className="quiet">
        {factsOf(details).join(' · ')}
      </Text>
    </Breaking>
  );
}

function actorOf({ actor }: AuditEntry): string {
  return actor.name ?? { operator: 'The operator', anonymous: 'Somebody' }[actor.type as string] ?? `A ${actor.type}`;
}

function subjectOf({ subject, subject_label: label }: AuditEntry): string {
  return label || subject;
}

const CSV_COLUMNS: CsvColumn<AuditEntry>[] = [
  ['time', ({ at }) => at],
  ['who', actorOf],
  ['what', (entry) => sentenceOf(entry.action, entry.details).replace('*', () => subjectOf(entry))],
  ['details', ({ details }) => factsOf(details).join('; ')],
  ['action', ({ action }) => action],
  ['subject', ({ subject }) => subject],
];
