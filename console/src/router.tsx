import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { Refused } from './api/client.ts';
import { queryClient } from './api/query-client.ts';
import { meQuery } from './api/session.ts';
import { NotFound } from './not-found.tsx';
import { validateCalendarSearch } from './screens/calendar/search.ts';
import { validateDeliveriesSearch } from './screens/deliveries/search.ts';
import { validateOrdersSearch } from './screens/orders/search.ts';
import { validatePartnersSearch } from './screens/partners/search.ts';
import { Shell } from './shell.tsx';
import { Failure } from './ui/failure.tsx';

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search['to'] === 'string' && /^\/(?!\/)/.test(search['to']) ? { to: search['to'] } : {},
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-in.tsx'), 'SignIn'),
});

const pairRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pair',
  component: lazyRouteComponent(() => import('./screens/sign-in/pair.tsx'), 'Pair'),
});

const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./screens/sign-in/choose-password.tsx'), 'ChoosePassword'),
});

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  errorComponent: ({ error, reset }) => <Failure error={error as Error} retry={reset} />,
  beforeLoad: async ({ location }) => {
    await queryClient.ensureQueryData(meQuery).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 401) {
        redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href }, throw: true });
      }
      throw error;
    });
  },
});

const todayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/today/today.tsx'), 'Today'),
});

const ordersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/orders',
  validateSearch: validateOrdersSearch,
  component: lazyRouteComponent(() => import('./screens/orders/orders.tsx'), 'Orders'),
});

const calendarRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/calendar',
  validateSearch: validateCalendarSearch,
  component: lazyRouteComponent(() => import('./screens/calendar/calendar.tsx'), 'Calendar'),
});

const partnersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners',
  validateSearch: validatePartnersSearch,
  component: lazyRouteComponent(() => import('./screens/partners/partners.tsx'), 'Partners'),
});

const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  validateSearch: validateDeliveriesSearch,
  component: lazyRouteComponent(() => import('./screens/deliveries/deliveries.tsx'), 'Deliveries'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    pairRoute,
    linkRoute,
    shellRoute.addChildren([todayRoute, ordersRoute, calendarRoute, partnersRoute, deliveriesRoute]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
