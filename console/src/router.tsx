import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, Refused } from './api/client.ts';
import { queryClient } from './api/query-client.ts';
import { keepSession, meQuery } from './api/session.ts';
import { validateAuditSearch } from './screens/audit/search.ts';
import { validateCalendarSearch } from './screens/calendar/search.ts';
import { validateDeliveriesSearch } from './screens/deliveries/search.ts';
import { validateMenuSearch } from './screens/menu/search.ts';
import { validateOrdersSearch } from './screens/orders/search.ts';
import { validateStaysSearch } from './screens/stays/search.ts';
import { Shell } from './shell.tsx';
import { Empty, Failure } from './ui/loaded.tsx';
import { listSearch, searchOf } from './ui/search.ts';

interface OneTimeLink {
  kind: 'invite' | 'reset' | 'welcome';
  token: string;
}

/** The one-time link that the page was opened with: `#invite=…`, `#reset=…` or `#welcome=…`. */
const oneTimeLink = takeLink();

/** Takes the token out of the address before anything else sees it. */
function takeLink(): OneTimeLink | undefined {
  const [, kind, token] = /^#(invite|reset|welcome)=([\w.~-]+)$/.exec(window.location.hash) ?? [];
  if (token === undefined) return undefined;
  window.history.replaceState(null, '', '/console/welcome');
  return { kind: kind as OneTimeLink['kind'], token };
}

const rootRoute = createRootRoute({ notFoundComponent: NotFound });

function NotFound() {
  return (
    <Empty title="There is no such page." action={<Link to="/">Go to Today</Link>}>
      The link may be old, or a part of it is missing.
    </Empty>
  );
}

const beforeSignIn = (name: 'SignIn' | 'Pair' | 'ChoosePassword') =>
  lazyRouteComponent(() => import('./screens/sign-in/sign-in.tsx'), name);

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf({ to: (text) => (text !== undefined && /^\/(?!\/)/.test(text) ? text : undefined) }),
  component: beforeSignIn('SignIn'),
});

const pairRoute = createRoute({ getParentRoute: () => rootRoute, path: '/pair', component: beforeSignIn('Pair') });

/** Where a one-time link leads: an invitation, a reset, or the welcome of the demo's owner, which signs in at once. */
const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  loader: async (): Promise<{ link?: OneTimeLink; fault?: string }> => {
    if (oneTimeLink?.kind !== 'welcome') return { link: oneTimeLink };
    try {
      keepSession(await call('welcomeOwner', { body: { token: oneTimeLink.token } }, { isSigningIn: true }));
    } catch (error) {
      return { fault: (error as Error).message };
    }
    redirect({ to: '/', throw: true });
    return {};
  },
  component: beforeSignIn('ChoosePassword'),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    await queryClient.ensureQueryData(meQuery).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 401) {
        redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href }, throw: true });
      }
      throw error;
    });
  },
});

/** A screen behind the sign-in: its path, its component, and the function that reads its search parameters if it has some. */
function screen<Path extends string, Name extends string, Search = object>(
  path: Path,
  module: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
  validateSearch: (search: Record<string, unknown>) => Search = () => ({}) as Search,
) {
  const component = lazyRouteComponent(module, name);
  return createRoute({ getParentRoute: () => shellRoute, path, component, validateSearch });
}

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    pairRoute,
    linkRoute,
    shellRoute.addChildren([
      screen('/', () => import('./screens/today/today.tsx'), 'Today'),
      screen('/orders', () => import('./screens/orders/orders.tsx'), 'Orders', validateOrdersSearch),
      screen('/stays', () => import('./screens/stays/stays.tsx'), 'Stays', validateStaysSearch),
      screen('/calendar', () => import('./screens/calendar/calendar.tsx'), 'Calendar', validateCalendarSearch),
      screen('/menu', () => import('./screens/menu/menu.tsx'), 'Menu', validateMenuSearch),
      screen('/partners', () => import('./screens/partners/partners.tsx'), 'Partners', listSearch('pms', 'channels')),
      screen(
        '/deliveries',
        () => import('./screens/deliveries/deliveries.tsx'),
        'Deliveries',
        validateDeliveriesSearch,
      ),
      screen('/audit', () => import('./screens/audit/audit.tsx'), 'Audit', validateAuditSearch),
      screen('/people', () => import('./screens/people/people.tsx'), 'People', listSearch('displays')),
      screen('/settings', () => import('./screens/settings/settings.tsx'), 'Settings'),
    ]),
  ]),
  basepath: '/console',
  // Each screen has one of its own, so a screen that fails leaves the frame, and so the way to the others.
  defaultErrorComponent: ({ error, reset }) => <Failure error={error as Error} retry={reset} />,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
