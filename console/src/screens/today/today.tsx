import { Box, Button, Flex, Group, Progress, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Answer, call } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { useCommands } from '../../ui/commands.ts';
import { formatDate, weekday } from '../../ui/format.ts';
import { Ago } from '../../ui/history.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { lateQuery, useLateMinutes } from '../orders/late.ts';
import { ActNow } from './act-now.tsx';
import { HotelNow, OrdersNow } from './figures.tsx';
import { FirstSteps } from './first-steps.tsx';
import classes from './today.module.css';

type Night = NonNullable<Answer<'getToday'>['hotel']>['nights'][number];
type Partner = NonNullable<Answer<'getToday'>['partners']>[number];

/** Read again after this time also without a hint, because orders become late by waiting. */
const REREAD_MS = 10_000;

export function Today() {
  const me = useMe();
  const query = useQuery({
    ...read('getToday', { query: lateQuery(useLateMinutes()) }, [
      'orders',
      'reservations',
      'events',
      'rooms',
      'rates',
      'credentials',
    ]),
    refetchInterval: REREAD_MS,
  });
  return (
    <Page title="Today" isLive actions={me.service.sandbox && me.person?.role === 'owner' && <MakeBusy />}>
      <Loaded query={query}>{(today) => <Parts today={today} readAt={query.dataUpdatedAt} />}</Loaded>
    </Page>
  );
}

function Parts({ today, readAt }: { today: Answer<'getToday'>; readAt: number }) {
  const now = useNow();
  const { sandbox } = useMe().service;
  const { receivers, oversold, orders, hotel, partners, first_steps: steps } = today;
  if (receivers === null && oversold === null && orders === null) {
    return (
      <Empty title="Nothing to see here for you yet.">
        Your account has no area with figures of today. An owner of the house can give you one.
      </Empty>
    );
  }
  // The guests of the demo come at a press of a button, before its owner has done the other steps.
  const isFirst = steps !== null && !(steps.has_booking && (steps.has_webhook || !sandbox));
  const firstSteps = isFirst && <FirstSteps steps={steps} partners={partners ?? []} />;
  return (
    <>
      <ActNow receivers={receivers ?? []} oversold={oversold ?? []} readAt={readAt} now={now} />
      {!steps?.has_booking && firstSteps}
      <Flex wrap="wrap" gap="32px 24px" mt={32}>
        {orders !== null && (
          <Box flex="3 1 380px">
            <OrdersNow orders={orders} now={now} />
          </Box>
        )}
        {hotel !== null && (
          <Box flex="2 1 380px">
            <HotelNow hotel={hotel} />
          </Box>
        )}
      </Flex>
      {hotel !== null && <Nights nights={hotel.nights} />}
      {partners !== null && partners.length > 0 && <PartnersNow partners={partners} />}
      {steps?.has_booking && firstSteps}
    </>
  );
}

const GUESTS = { orders: 18, stays: 40 };

/** Sends simulated guests to the demo, within a minute. */
function MakeBusy() {
  const now = useNow();
  const { mutate, data, isPending } = useMutation({
    mutationFn: () => call('makeBusy', { body: GUESTS }),
    onError: ({ message }) => notifications.show({ color: 'red', message }),
  });
  const secondsLeft = data === undefined ? 0 : Math.ceil((Date.parse(data.until) - now) / 1_000);
  const isBusy = secondsLeft > 0;
  useCommands('Demo', [['b', 'Make it busy', mutate]]);
  return (
    <Button loading={isPending} disabled={isBusy} onClick={() => mutate()}>
      {isBusy ? `Guests are coming, ${secondsLeft} s` : 'Make it busy'}
    </Button>
  );
}

function Nights({ nights }: { nights: Night[] }) {
  const held = nights.reduce((sum, night) => sum + night.held, 0);
  const all = nights.reduce((sum, night) => sum + night.capacity, 0);
  const share = all > 0 && `${Math.round((held / all) * 100)}% of ${nights[0]?.capacity} rooms held`;
  return (
    <Section title="Next 14 nights" aside={<p className="quiet">{share}</p>}>
      <div className={classes.panel}>
        <Group
          component="ol"
          grow
          wrap="nowrap"
          gap="0.5%"
          m={0}
          px={{ base: 8, sm: 16 }}
          py={12}
          fz={{ base: 10, sm: 12 }}
        >
          {nights.map((night) => (
            <Bar key={night.date} {...night} />
          ))}
        </Group>
      </div>
    </Section>
  );
}

function Bar({ date, held, capacity }: Night) {
  const day = new Date(`${date}T00:00:00Z`);
  const isWeekend = [5, 6].includes(day.getUTCDay());
  const tone = held > capacity ? 'late' : 'accent-filled';
  const share = capacity === 0 ? 0 : Math.min(100, (held / capacity) * 100);
  const background = `linear-gradient(to top, var(--rs-${tone}) ${share}%, var(--rs-sunken) 0)`;
  return (
    <Stack
      component="li"
      gap={0}
      align="center"
      lh={1.35}
      c={isWeekend ? undefined : 'dimmed'}
      fw={isWeekend ? 600 : undefined}
      title={`${formatDate(date, 'weekday')}: ${held} of ${capacity} rooms`}
    >
      <Text inherit fw={700} c={tone === 'late' ? 'var(--rs-late)' : 'var(--rs-text)'}>
        {held}
      </Text>
      <Box w="100%" maw={44} h={88} mt={4} mb={6} bdrs={5} style={{ background }} aria-hidden="true" />
      <span className="visually-hidden">of {capacity} rooms,</span>
      <span>{weekday.format(day)}</span>
      <span>{day.getUTCDate()}</span>
    </Stack>
  );
}

const COLUMNS: Column<Partner>[] = [
  { label: 'Name', cell: ({ label }) => label || 'No name' },
  { label: 'Delivered in 24 h', cell: (partner) => <Share {...partner} /> },
  { label: 'Last call', isNumber: true, cell: ({ last_used_at: at }) => <Ago at={at} /> },
];

function PartnersNow({ partners }: { partners: Partner[] }) {
  const navigate = useNavigate();
  return (
    <Section title="Partners">
      <Table
        label="Partners"
        columns={COLUMNS}
        rows={partners}
        keyOf={({ credential_id: id }) => id}
        onOpen={({ credential_id: open }) => void navigate({ to: '/partners', search: { open } })}
      />
    </Section>
  );
}

function Share({ delivered, undelivered, has_webhook: hasWebhook }: Partner) {
  const all = delivered + undelivered;
  if (all === 0) return <span className="quiet">{hasWebhook ? 'Nothing to deliver' : 'No webhook'}</span>;
  // 99.6% is not 100%: one that is missing must be seen.
  const percent = Math.floor((delivered / all) * 100);
  const color = percent < 95 ? 'var(--rs-late)' : 'var(--rs-good)';
  return (
    <Group gap="2px 10px">
      <Progress value={percent} color={color} w={72} size={6} visibleFrom="sm" aria-hidden="true" />
      <Text inherit c={percent < 95 ? color : undefined}>
        {percent}%
      </Text>
      <span className="quiet">
        {delivered} of {all}
      </span>
    </Group>
  );
}
