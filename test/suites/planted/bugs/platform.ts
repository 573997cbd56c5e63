import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/platform/`. */
export const PLATFORM_BUGS: Bug[] = [
  {
    name: 'a whole budget in each process while Redis is lost',
    harm: 'a partner gets as many budgets as there are processes',
    edits: [
      {
        file: 'src/platform/http/redis-budgets.ts',
        find: 'Math.max(1, Math.floor(limit / this.#processes))',
        replace: 'limit',
      },
    ],
    suites: ['src/platform/http/redis-budgets.system.test.ts'],
  },
  {
    name: 'budgets forgotten each minute',
    harm: 'a partner gets two budgets in one minute',
    edits: [
      {
        file: 'src/platform/http/rate-limit.ts',
        find: 'older = nowMs >= newerUntilMs + windowMs ? new Map() : newer;',
        replace: 'older = new Map();',
      },
    ],
    suites: ['src/platform/http/rate-limit.test.ts'],
  },
  {
    name: 'unsorted night locks',
    harm: 'two concurrent changes of stays wait for each other in a deadlock',
    edits: [
      {
        file: 'src/platform/db/inputs.ts',
        find: 'fields.list(rows.toSorted(by(key)))',
        replace: 'fields.list(rows)',
      },
    ],
    suites: ['src/hotel/channels/receiver-race.test.ts'],
  },
  {
    name: 'table without a rule for a cluster',
    harm: 'a cluster distributes a new table by a tenant that its key does not begin with, or fails in the upgrade',
    edits: [
      {
        file: 'src/platform/db/distribution.ts',
        find: "  sign_in: 'on the coordinator',\n",
        replace: '',
      },
    ],
    suites: ['src/platform/db/distribution.test.ts'],
  },
  {
    name: 'one batch for all tenants of a cluster',
    harm: 'a cluster refuses the statement, or a tenant gets the data of another one',
    edits: [
      {
        file: 'src/platform/db/batching.ts',
        find: 'isCluster(db) ? tenantIdOf(input) : null',
        replace: 'null',
      },
    ],
    suites: ['src/platform/db/batching.test.ts'],
  },
  {
    name: 'poll misses slow transactions',
    harm: 'a process uses cached data for ever if its change was committed after a poll that ran during its transaction',
    edits: [
      {
        file: 'src/platform/changes/store.ts',
        find: 'SELECT pg_snapshot_xmin(pg_current_snapshot())',
        replace: 'SELECT pg_snapshot_xmax(pg_current_snapshot())',
      },
    ],
    suites: ['src/platform/changes/changes.test.ts'],
  },
  {
    name: 'ready for ever',
    harm: 'a load balancer sends calls to a process that cannot reach its database',
    edits: [
      {
        file: 'src/platform/db/contact.ts',
        find: 'if (performance.now() > this.#lastMs + IN_CONTACT_FOR_MS) {',
        replace: 'if (performance.now() > this.#lastMs + 1_000 * IN_CONTACT_FOR_MS) {',
      },
    ],
    suites: ['src/platform/http/server-errors.test.ts'],
  },
  {
    name: 'long list that ends after 10,000 rows',
    harm: 'staff do not find an old entry, although it passes the filters',
    edits: [
      {
        file: 'src/platform/db/keyset-list.ts',
        find: 'rows.length <= limit && last?.number !== MAX_EXAMINED',
        replace: 'rows.length <= limit',
      },
    ],
    suites: ['test/suites/lists/lists.test.ts'],
  },
  {
    name: 'migration that does not give way',
    harm: 'a migration behind a long transaction makes all calls on its table wait',
    edits: [
      {
        file: 'src/platform/db/migrate.ts',
        find: 'const LOCK_WAIT_MS = 500;',
        replace: 'const LOCK_WAIT_MS = 30_000;',
      },
    ],
    suites: ['src/platform/db/migrate.test.ts'],
  },
  {
    name: 'stale statement on each connection',
    harm: 'calls get 503 during a rolling upgrade',
    edits: [
      {
        file: 'src/platform/db/driver.ts',
        find: 'this.#names.set(text, undefined);',
        replace: 'this.#names.get(text);',
      },
    ],
    suites: ['src/platform/db/database.test.ts'],
  },
  {
    name: 'tenant that takes all places',
    harm: 'the calls of one tenant make all others wait',
    edits: [
      {
        file: 'src/platform/http/door.ts',
        find: 'call: { places: 256, placesOfKey: 15 }',
        replace: 'call: { places: 256, placesOfKey: 256 }',
      },
    ],
    suites: ['src/platform/http/door.test.ts'],
  },
  {
    name: 'place of a client that has left',
    harm: 'a client that opens and resets connections starts any number of handlers',
    edits: [
      {
        file: 'src/platform/http/door.ts',
        find: 'if (response.writableEnded || this.#leave === null) {',
        replace: 'if (response.destroyed || this.#leave === null) {',
      },
    ],
    suites: ['src/platform/http/door.test.ts'],
  },
];
