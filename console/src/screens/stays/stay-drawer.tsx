import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useHouse } from '../../api/house.ts';
import { useCommands } from '../../ui/commands.ts';
import { Detail, Facts, StatusLine } from '../../ui/detail.tsx';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Story } from '../deliveries/event-deliveries.tsx';
import { askFor, doNext, earliestEnd, setArrived, stayQuery } from './moves.ts';
import { NightPrices } from './quote.tsx';
import { bookerOf, countNights, NEXT, nextOf, type Stay, stateOf, STATUS, type StayWithHistory } from './statuses.ts';

interface Props {
  id: string | undefined;
  onClose: () => void;
  change: (stay: Stay) => void;
}

export function StayDrawer({ id, onClose, change }: Props) {
  const query = useQuery({ ...stayQuery(id ?? ''), enabled: id !== undefined });
  const { data } = query;
  return (
    <Detail
      title={data === undefined ? 'Stay' : `${data.guest.name}, ${data.natural_id}`}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={data && <Actions stay={data} change={change} />}
    >
      <Loaded query={query}>{(stay) => <Content stay={stay} />}</Loaded>
    </Detail>
  );
}

function Content({ stay }: { stay: StayWithHistory }) {
  const { dayAndTime } = useFormat();
  const { nameOf, roomTypeOf } = useHouse();
  const { guest } = stay;
  const plan = roomTypeOf(stay.room_type_id)?.rate_plans.find((each) => each.id === stay.rate_plan_id);
  const partnersId = stay.external_reservation_id ?? stay.external_id;
  const steps = stay.history.map((step, index) => ({
    ...step,
    label: index === 0 ? 'Booked' : STATUS[step.status].label,
  }));
  return (
    <>
      <StatusLine {...stateOf(stay)}>{plural(countNights(stay), 'night')}</StatusLine>
      <Facts
        facts={[
          ['Arrival', formatDate(stay.check_in, 'weekday')],
          ['Departure', formatDate(stay.check_out, 'weekday')],
          ['Room type', nameOf(stay.room_type_id)],
          ['Guests', stay.guests],
          ['Phone', guest.phone ?? 'Not known'],
          ['E-mail', guest.email ?? 'Not known'],
          ['Booked by', bookerOf(stay)],
          partnersId === null ? null : ["Partner's id", partnersId],
          plan === undefined ? null : ['Rate plan', plan.name],
          stay.arrived_at === null ? null : ['Arrived', dayAndTime(stay.arrived_at)],
        ]}
      />
      <Section title="Nights">
        <NightPrices nights={stay.nightly_prices} total={stay.total_amount} />
      </Section>
      <Story id={stay.reservation_id} credentialId={stay.credential_id} steps={steps} told={steps} />
    </>
  );
}

function Actions({ stay, change }: { stay: Stay } & Pick<Props, 'change'>) {
  const today = useHouse().todayOf(stay);
  const { status, source, arrived_at: arrivedAt, check_in, check_out } = stay;
  const isConfirmed = status === 'confirmed';
  const isOpen = isConfirmed || status === 'pending';
  const isStayed = (isConfirmed || status === 'completed') && check_in <= today;
  const next = nextOf(stay, today);
  const possible: [isPossible: boolean, key: string, label: string, run: () => void][] = [
    [next !== undefined, 'a', NEXT[next ?? 'arrive'], () => next && void doNext(stay, next, today)],
    [isConfirmed && arrivedAt !== null, 'r', 'Not arrived', () => void setArrived(stay, false)],
    [isConfirmed && arrivedAt === null && check_in <= today, 'o', 'No-show…', () => askFor(stay, 'no_show', today)],
    [isOpen && source === 'house', 'c', 'Change…', () => change(stay)],
    [isStayed && earliestEnd(stay, today) < check_out, 'd', 'End early…', () => askFor(stay, 'ended', today)],
    [isOpen || status === 'no_show' || status === 'expired', 'x', 'Cancel…', () => askFor(stay, 'cancelled', today)],
  ];
  const named = possible.filter(([isPossible]) => isPossible).map(([, ...command]) => command);
  useCommands('This stay', named);
  return named.map(([key, label, run]) => (
    <Button key={key} px={10} variant={key === 'a' ? 'filled' : 'default'} onClick={run}>
      {label}
    </Button>
  ));
}
