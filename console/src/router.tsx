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
import { validateAuditSearch } from './screens/audit/search.ts';
import { validateCalendarSearch } from './screens/calendar/search.ts';
import { validateDeliveriesSearch } from './screens/deliveries/search.ts';
import { validateMenuSearch } from './screens/menu/search.ts';
import { validateOrdersSearch } from './screens/orders/search.ts';
import { validateStaysSearch } from './screens/stays/search.ts';
import { Shell } from './shell.tsx';
import { Failure } from './ui/failure.tsx';
import { listSearch } from './ui/search.ts';

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

const staysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/stays',
  validateSearch: validateStaysSearch,
  component: lazyRouteComponent(() => import('./screens/stays/stays.tsx'), 'Stays'),
});

const menuRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/menu',
  validateSearch: validateMenuSearch,
  component: lazyRouteComponent(() => import('./screens/menu/menu.tsx'), 'Menu'),
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
  validateSearch: listSearch('pms', 'channels'),
  component: lazyRouteComponent(() => import('./screens/partners/partners.tsx'), 'Partners'),
});

const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  validateSearch: validateDeliveriesSearch,
  component: lazyRouteComponent(() => import('./screens/deliveries/deliveries.tsx'), 'Deliveries'),
});

const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: listSearch('displays'),
  component: lazyRouteComponent(() => import('./screens/people/people.tsx'), 'People'),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: validateAuditSearch,
  component: lazyRouteComponent(() => import('./screens/audit/audit.tsx'), 'Audit'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    pairRoute,
    linkRoute,
    shellRoute.addChildren([
      todayRoute,
      ordersRoute,
      staysRoute,
      calendarRoute,
      menuRoute,
      partnersRoute,
      deliveriesRoute,
      auditRoute,
      peopleRoute,
      settingsRoute,
    ]),
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
