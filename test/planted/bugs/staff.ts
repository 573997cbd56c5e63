import type { Bug } from './bug.ts';

/** Bugs in the wing `staff/`. */
export const STAFF_BUGS: Bug[] = [
  {
    name: 'hints of all areas',
    harm: 'the kitchen learns the ids of stays and hears of credentials',
    edits: [
      {
        file: 'src/staff/live-changes/hint.ts',
        find: 'topics.filter((topic) => this.#heard.has(topic)).forEach',
        replace: 'topics.forEach',
      },
    ],
    suites: ['src/staff/live-changes/hint.test.ts'],
  },
  {
    name: 'look that does not go back',
    harm: 'a screen misses an order whose transaction took long',
    edits: [
      {
        file: 'src/staff/live-changes/watch.ts',
        find: 'return this.#isReady ? BACK_MS : FIRST_BACK_MS;',
        replace: 'return this.#isReady ? 1 : FIRST_BACK_MS;',
      },
    ],
    suites: ['src/staff/live-changes/hints.test.ts'],
  },
  {
    name: 'stream with the rights of before',
    harm: 'a person hears of orders after the owner has taken the area away',
    edits: [
      {
        file: 'src/access/sessions/caller-checks.ts',
        find: 'row === undefined || !hasSameRights(caller, row)',
        replace: 'row === undefined',
      },
    ],
    suites: ['src/staff/live-changes/access.test.ts'],
  },
];
