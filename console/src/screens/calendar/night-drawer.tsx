import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Detail, Facts } from '../../ui/detail.tsx';
import { Failure } from '../../ui/failure.tsx';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Waiting } from '../../ui/loaded.tsx';
import type { RoomType } from './nights.ts';

type Night = Answer<'getNight'>;
type Entry = Night['history'][number];

interface Props {
  /** `<room type>.<date>`. Undefined: the drawer is closed. */
  night: string | undefined;
  types: RoomType[];
  onClose: () => void;
}

/** One night of a room type: who has which room, and how it came to that. */
export function NightDrawer({ night, types, onClose }: Props) {
  const [id = '', date = ''] = night?.split('.') ?? [];
  const { data, error, refetch } = useQuery({
    ...read('getNight', { path: { room_type_id: id, date } }, ['reservations', 'rooms', 'rates']),
    enabled: night !== undefined,
  });
  const name = types.find((type) => type.id === id)?.name ?? 'Night';
  return (
    <Detail title={night && `${name}, ${formatDate(date, 'weekday')}`} isOpen={night !== undefined} onClose={onClose}>
      {data && <Content night={data} />}
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Waiting />)}
    </Detail>
  );
}

function Content({ night: { capacity, held, stays, history } }: { night: Night }) {
  const over = Math.max(0, held - capacity);
  const others = stays.slice(over);
  const now = useNow(60_000);
  const { moment } = useFormat();
  return (
    <>
      <Facts
        facts={[
          ['Rooms', `${held} of ${capacity} held`],
          over > 0 ? ['Oversold', <Status tone="late">{`${plural(over, 'room')} too many`}</Status>] : null,
        ]}
      />
      {over > 0 && (
        <Section title="Booked after the last room">
          <Stays stays={stays.slice(0, over)} />
          <p>Move these guests to another room type, or give this one more rooms.</p>
        </Section>
      )}
      <Section title={over > 0 ? 'Booked before' : 'Who has a room'}>
        {others.length === 0 ? <p>Nobody.</p> : <Stays stays={others} />}
      </Section>
      <Section title="History">
        {history.length === 0 ? (
          <p>Nothing has happened to this night yet.</p>
        ) : (
          <Table
            label="History"
            rows={history.map((entry, index) => ({ ...entry, index }))}
            keyOf={({ index }) => String(index)}
            columns={[
              { label: 'When', cell: ({ at }) => moment(at, now) },
              { label: 'What', cell: (entry) => <What entry={entry} capacity={capacity} /> },
              { label: 'Held', isNumber: true, cell: ({ held_after: after }) => after },
            ]}
          />
        )}
      </Section>
    </>
  );
}

const SOURCE = { partner: 'Partner', ota: 'OTA', house: 'House' };

/** The newest booking stands first, as the API has them. */
function Stays({ stays }: { stays: Night['stays'] }) {
  return (
    <Table
      label="Stays"
      rows={stays}
      keyOf={({ reservation_id: id }) => id}
      columns={[
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
      ]}
    />
  );
}

const WHAT: Record<Entry['what'], string> = {
  booked: 'Booked',
  cancelled: 'Cancelled or expired',
  changed: 'Stay changed',
  price: 'Price changed',
  stop_sell: 'Closed or opened',
  capacity: 'Number of rooms changed',
};

function What({ entry: { what, by, held_after: held }, capacity }: { entry: Entry; capacity: number }) {
  const isOver = what === 'booked' && held > capacity;
  return (
    <>
      {WHAT[what]} by {by.name ?? (by.type === 'sandbox' ? 'the simulated front desk' : `a ${by.type}`)}
      {isOver && <Status tone="late">after the last room</Status>}
    </>
  );
}
