import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { setServerTime } from '../live/clock.ts';
import { type Answer, call } from './client.ts';
import { queryClient } from './query-client.ts';

export type Me = Answer<'getMe'>;
export type Area = NonNullable<Me['person']>['areas'][number];
export type Feature = Me['tenant']['features'][number];

export const meQuery = queryOptions({
  queryKey: ['me'],
  // The first read finds out whether anybody has signed in. Later ones ask for the password as every other call does.
  queryFn: async () =>
    tellTime(await call('getMe', {}, { isSigningIn: queryClient.getQueryData(['me']) === undefined })),
  staleTime: 60_000,
  retry: false,
  meta: { topics: ['people'] },
});

function tellTime(me: Me): Me {
  setServerTime(Date.parse(me.service.now));
  return me;
}

/** Signed-in person or display. Only for screens behind the sign-in. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

export function keepSession(me: Me): void {
  queryClient.setQueryData(meQuery.queryKey, tellTime(me));
}

export async function signOut(): Promise<void> {
  await call('endOwnSession', {});
  // A new document: nothing of what the person has read stays in memory.
  window.location.replace('/console/');
}

export function areasOf({ person, display }: Me): Area[] {
  return person?.areas ?? display?.areas ?? [];
}

export function isOwner(me: Me): boolean {
  return me.person?.role === 'owner';
}
