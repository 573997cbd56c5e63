import { Box, Flex } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { Empty } from '../../ui/empty.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { lateQuery, useLateMinutes } from '../orders/late.ts';
import { ActNow } from './act-now.tsx';
import { HotelNow, OrdersNow } from './figures.tsx';
import { FirstSteps } from './first-steps.tsx';
import { MakeBusy } from './make-busy.tsx';
import { Nights } from './nights.tsx';
import { PartnersNow } from './partners-now.tsx';

/** Read again after this time also without a hint, because orders become late by waiting. */
const REREAD_MS = 10_000;

/** The house now: what somebody must act on, then orders, stays and partners. */
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
