import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { Detail, Facts } from '../../ui/detail.tsx';
import { formatDate, plural } from '../../ui/format.ts';
import { History } from '../../ui/history.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Row } from './rows.tsx';

type Night = Answer<'getNight'>;

interface Props {
  /** `<room type>.<date>`. Undefined: the drawer is closed. */
  night: string | undefined;
  rows: Row[];
  onClose: () => void;
}

/** One night of a room type: who has which room, and how it came to that. */
export function NightDrawer({ night, rows, onClose }: Props) {
  const [id = '', date = ''] = night?.split('.') ?? [];
  const query = useQuery({
    ...read('getNight', { path: { room_type_id: id, date } }, ['reservations', 'rooms', 'rates']),
    enabled: night !== undefined,
  });
  const name = rows.find(({ type }) => type.id === id)?.type.name ?? 'Night';
  return (
    <Detail title={night && `${name}, ${formatDate(date, 'weekday')}`} isOpen={night !== undefined} onClose={onClose}>
      <Loaded query={query}>{(data) => <Content {...data} />}</Loaded>
    </Detail>
  );
}

const SOURCE = { partner: 'Partner', ota: 'OTA', house: 'House' };
const COLUMNS: Column<Night['stays'][number]>[] = [
  {
    label: 'Guest',
    cell: ({ reservation_id: id, guest_name: guest }) => (
      <Link to="/stays" search={{ open: id }}>
        {guest}
      </Link>
    ),
  },
  { label: 'Stay', cell: ({ check_in: from, check_out: to }) => `${formatDate(from)} – ${formatDate(to)}` },
  { label: 'Reference', isWideOnly: true, cell: ({ natural_id: reference }) => reference },
  { label: 'From', cell: ({ source }) => SOURCE[source] },
];

const WHAT = {
  booked: 'Booked',
  cancelled: 'Cancelled or expired',
  changed: 'Stay changed',
  price: 'Price changed',
  stop_sell: 'Closed or opened',
  capacity: 'Number of rooms changed',
};

function Content({ capacity, held, stays, history }: Night) {
  const over = Math.max(0, held - capacity);
  // The newest booking stands first, as the API has them.
  const late = new Set(stays.slice(0, over));
  const groupOf = (stay: Night['stays'][number]) => (late.has(stay) ? 'Booked after the last room' : 'Booked before');
  return (
    <>
      <Facts
        facts={[
          ['Rooms', `${held} of ${capacity} held`],
          over > 0 ? ['Oversold', <Status tone="late">{`${plural(over, 'room')} too many`}</Status>] : null,
        ]}
      />
      <Section title="Who has a room">
        {stays.length === 0 && <p>Nobody.</p>}
        {stays.length > 0 && (
          <Table
            label="Stays"
            rows={stays}
            keyOf={({ reservation_id: id }) => id}
            columns={COLUMNS}
            {...(over > 0 && { groupOf })}
          />
        )}
        {over > 0 && <p>Move the guests who came late to another room type, or give this one more rooms.</p>}
      </Section>
      <Section title="History">
        {history.length === 0 && <p>Nothing has happened to this night yet.</p>}
        <History
          steps={history.map(({ what, at, by, held_after: after }) => {
            const isOver = what === 'booked' && after > capacity;
            return { label: WHAT[what], at, by, reason: isOver ? `${after} held, after the last room` : null };
          })}
        />
      </Section>
    </>
  );
}
