import { BUDGETS } from './budgets.ts';
import { COSTS } from './costs.ts';
import { DELIVERIES } from './deliveries.ts';
import { DIRECTUS } from './directus.ts';
import { HOTEL } from './hotel.ts';
import { LATENCY } from './latency.ts';
import { LIVE } from './live.ts';
import { LISTS } from './lists.ts';
import { MANY_PROCESSES } from './many-processes.ts';
import { MENU } from './menu.ts';
import type { Operation } from './operation.ts';
import { ORDERS } from './orders.ts';
import { PMS } from './pms.ts';
import { QUEUES } from './queues.ts';
import { SIGN_IN } from './sign-in.ts';
import { STAFF_LISTS } from './staff-lists.ts';
import { START } from './start.ts';
import { STOCK } from './stock.ts';

/** All operations in the order in which they run. The start of the service is measured first, while no other service runs. */
export const OPERATIONS: readonly Operation[] = [
  ...START,
  ...MENU,
  ...ORDERS,
  ...HOTEL,
  ...PMS,
  ...SIGN_IN,
  ...BUDGETS,
  ...LISTS,
  ...STAFF_LISTS,
  ...STOCK,
  ...DELIVERIES,
  ...QUEUES,
  ...LATENCY,
  ...LIVE,
  ...MANY_PROCESSES,
  ...COSTS,
  ...DIRECTUS,
];
