import type { Bug } from './bug.ts';

/** Bugs in the wing `access/`. */
export const ACCESS_BUGS: Bug[] = [
  {
    name: 'a session cookie counts without its header',
    harm: 'a page of another host of the same domain acts as the person who is signed in',
    edits: [
      {
        file: 'src/access/sessions/console-cookie.ts',
        find: "headers[CONSOLE_HEADER.toLowerCase()] === '1' && ",
        replace: '',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a sign-out only clears the cookie',
    harm: 'a stolen cookie opens the tenant after the person has signed out',
    edits: [
      {
        file: 'src/access/sessions/store.ts',
        find: '(s.ended_at IS NULL\n  AND s.last_used_at',
        replace: '(s.last_used_at',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a session outlives a new password',
    harm: 'a person who changes a leaked password does not get rid of the thief',
    edits: [
      {
        file: 'src/access/sessions/store.ts',
        find: 'u.generation = s.generation',
        replace: 'u.generation >= s.generation',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a use does not extend a session',
    harm: 'a person who works the whole day is signed out after 12 hours',
    edits: [
      {
        file: 'src/access/sessions/sessions.ts',
        find: 'this.#uses.touch(staff.tenant.id, found.id);',
        replace: '',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'an area opens all areas',
    harm: 'the screen in the kitchen shows the guests of the hotel',
    edits: [
      {
        file: 'src/access/sessions/guard.ts',
        find: 'right.areas.some((area) => areas.includes(area))',
        replace: 'right.areas.some(() => areas.length > 0)',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
];
