import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/staff/`. */
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
  {
    name: 'id before its changes',
    harm: 'a client that comes back misses the orders of the moment in which its connection broke',
    edits: [
      {
        file: 'src/staff/live-changes/watch.ts',
        find: 'momentMs: () => this.#toldMs,',
        replace: 'momentMs: () => this.#memory.momentMs,',
      },
    ],
    suites: ['src/staff/live-changes/watch.test.ts'],
  },
  {
    name: 'client that was away for long',
    harm: 'a screen that was off for an hour believes that it has missed nothing',
    edits: [
      {
        file: 'src/staff/live-changes/watch.ts',
        find: 'momentMs >= nowMs - BACK_MS && ',
        replace: '',
      },
    ],
    suites: ['src/staff/live-changes/watch.test.ts'],
  },
  {
    name: 'stream beyond the bound',
    harm: 'one caller takes one stream more than the others may have',
    edits: [
      {
        file: 'src/platform/http/event-streams.ts',
        find: 'count >= most',
        replace: 'count > most',
      },
    ],
    suites: ['src/staff/live-changes/streams.test.ts'],
  },
  {
    name: 'names of all tenants',
    harm: 'the audit trail shows the name of a credential of another tenant',
    edits: [
      {
        file: 'src/staff/trail/store.ts',
        find: 'sql`tenant_id = ${tenantId} AND id = ANY',
        replace: 'sql`id = ANY',
      },
    ],
    suites: ['src/staff/trail/trail.test.ts'],
  },
  {
    name: 'cell that is a formula',
    harm: 'the label of a partner runs a program in the spreadsheet of the owner',
    edits: [
      {
        file: 'src/platform/lib/csv.ts',
        find: "FORMULA.test(cell) ? `'${cell}` : cell",
        replace: 'cell',
      },
    ],
    suites: ['src/staff/reports/csv.test.ts'],
  },
  {
    name: 'days of another zone',
    harm: 'the orders of the evening count on the next day',
    edits: [
      {
        file: 'src/staff/reports/reports.ts',
        find: "instantOf(day, '00:00', timezone)",
        replace: "instantOf(day, '00:00', 'UTC')",
      },
    ],
    suites: ['src/staff/reports/days.test.ts'],
  },
  {
    name: 'cancelled orders in the report',
    harm: 'the owner sees money that nobody has paid',
    edits: [
      {
        file: 'src/staff/reports/store.ts',
        find: " AND status <> 'cancelled'",
        replace: '',
      },
    ],
    suites: ['src/staff/reports/days.test.ts'],
  },
  {
    name: 'look that takes a call',
    harm: 'each look of the owner takes a call from the budget of the partner',
    edits: [
      {
        file: 'src/staff/partners/partners.ts',
        find: '{ limit, look }: Budget',
        replace: '{ limit, take }: Budget',
      },
      {
        file: 'src/staff/partners/partners.ts',
        find: 'await look(credentialId)',
        replace: '{ ...(await take(credentialId)), isShared: false }',
      },
    ],
    suites: ['src/staff/partners/credential-detail.test.ts'],
  },
];
