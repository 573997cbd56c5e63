import { Box, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { read, readPages, REREAD_MS } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { addDays, formatDate, plural, sumOf, timesOf, useFormat } from '../../ui/format.ts';

interface Bar {
  /** What the bar says, for whoever points at it. */
  title: string;
  /** Counts by their colours, from the top. */
  parts: Partial<Record<'accent' | 'late' | 'warn' | 'good', number>>;
}

interface BarsProps {
  bars: Bar[];
  none: string;
  children: ReactNode;
}

function Bars({ bars, none, children }: BarsProps) {
  const most = Math.max(...bars.map(({ parts }) => Object.values(parts).reduce((sum, count) => sum + count)));
  if (most === 0) return <p className="quiet">{none}</p>;
  return (
    <>
      <Group gap={3} h={72} mb={6} aria-hidden="true" style={{ borderBottom: '1px solid var(--rs-line-strong)' }}>
        {bars.map(({ title, parts }) => (
          <Stack key={title} gap={0} flex={1} h="100%" justify="flex-end" title={title}>
            {Object.entries(parts).map(([tone, count]) => (
              <Box key={tone} h={`${(count / most) * 100}%`} bg={`var(--rs-${tone})`} opacity={0.8} />
            ))}
          </Stack>
        ))}
      </Group>
      <p className="quiet">{children}</p>
    </>
  );
}

export function DeliveriesByHour({ health: { hours } }: { health: Answer<'getStaffCredential'>['health'] }) {
  const { clock } = useFormat();
  const bars = hours.map(({ at, delivered, pending, failed }) => ({
    title: `${clock(at)}: ${delivered} delivered, ${pending} waiting, ${failed} failed`,
    parts: { late: failed, warn: pending, good: delivered },
  }));
  const sum = (key: 'delivered' | 'failed' | 'pending') =>
    hours.reduce((total, hour) => total + hour[key], 0).toLocaleString();
  const last = hours.findLast(({ p50_ms: p50 }) => p50 !== null);
  return (
    <Bars bars={bars} none="There was nothing to send.">
      {sum('delivered')} delivered, {sum('pending')} waiting, {sum('failed')} failed.
      {last && ` Answers in ${last.p50_ms} ms, the slowest twentieth in ${last.p95_ms} ms or more.`}
    </Bars>
  );
}

const DAYS = 14;

/** The last days in the house's time zone, oldest first. */
function useDays(): string[] {
  const { dayOf } = useFormat();
  const today = dayOf(serverNow());
  return Array.from({ length: DAYS }, (_, index) => addDays(today, index - DAYS + 1));
}

function DayBars({ word, days, note = '' }: { word: string; days: Day[]; note?: string }) {
  const { money } = useFormat();
  const bars = days.map(({ date, count, total }) => ({
    title: `${formatDate(date, 'weekday')}: ${plural(count, word)}, ${money(total)}`,
    parts: { accent: count },
  }));
  const count = days.reduce((sum, day) => sum + day.count, 0);
  return (
    <Bars bars={bars} none={`No ${word} in this time.`}>
      {plural(count, word)} for {money(sumOf(days.map(({ total }) => total)))}.{note}
    </Bars>
  );
}

interface Day {
  date: string;
  count: number;
  total: string;
}

export function OrdersByDay({ id }: { id: string }) {
  const [from = '', ...others] = useDays();
  const to = addDays(others.at(-1) ?? from, 1);
  const { data } = useQuery(read('reportDays', { query: { from, to } }, ['orders']));
  if (data === undefined) return null;
  const days = data.map(({ date, by_credential: partners }) => {
    const { orders: count, total } = partners.find((each) => each.id === id) ?? { orders: 0, total: '0' };
    return { date, count, total };
  });
  return <DayBars word="order" days={days} />;
}

/** Most pages of 100 stays that are counted. */
const MOST_PAGES = 5;

/** Stays of a partner by the day on which they were booked. The report of days has orders alone by partner, so the stays are listed. */
export function StaysByDay({ id }: { id: string }) {
  const { dayOf } = useFormat();
  const { currency, timezone } = useMe().tenant;
  const days = useDays();
  const { created_from: since } = timesOf(days[0], undefined, timezone);
  const filters = { credential_id: id, changed_since: since };
  const { data } = useQuery({
    queryKey: ['stays by day', filters],
    queryFn: ({ signal }) => readPages('listStaffReservations', filters, MOST_PAGES, signal),
    meta: { topics: ['reservations'] },
    refetchInterval: REREAD_MS,
  });
  if (data === undefined) return null;
  const held = data.filter(({ status }) => status !== 'cancelled' && status !== 'expired');
  const byDay = Map.groupBy(held, ({ created_at: at }) => dayOf(at));
  const shown = days.map((date) => {
    const stays = byDay.get(date) ?? [];
    const amounts = stays.filter((stay) => stay.currency === currency).map(({ total_amount: amount }) => amount);
    return { date, count: stays.length, total: sumOf(amounts) };
  });
  const isCut = data.length === MOST_PAGES * 100;
  return <DayBars word="stay" days={shown} note={isCut ? ` Only the newest ${data.length} are counted.` : ''} />;
}
