import { ACCESS_BUGS } from './bugs/access.ts';
import type { Bug } from './bugs/bug.ts';
import { HOTEL_BUGS } from './bugs/hotel.ts';
import { PLATFORM_BUGS } from './bugs/platform.ts';
import { RESTAURANT_BUGS } from './bugs/restaurant.ts';
import { STAFF_BUGS } from './bugs/staff.ts';
import { WEBHOOKS_BUGS } from './bugs/webhooks.ts';

/**
 * Bugs that services of this kind often have. `npm run test:planted` puts them into the code one at a time, and each time a test must fail.
 */
export const BUGS: Bug[] = [
  ...PLATFORM_BUGS,
  ...ACCESS_BUGS,
  ...WEBHOOKS_BUGS,
  ...RESTAURANT_BUGS,
  ...HOTEL_BUGS,
  ...STAFF_BUGS,
];
