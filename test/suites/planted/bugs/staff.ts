import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/staff/`. */
export const STAFF_BUGS: Bug[] = [
  {
    name: 'hints of all areas',
    harm: 'the kitchen hears of credentials and people',
    edits: [
      {
        file: 'src/staff/live-changes/topics.ts',
        find: 'return mayRead && rule',
        replace: 'return rule',
      },
    ],
    suites: ['src/staff/live-changes/hints.test.ts'],
  },
  {
    name: 'look that does not go back',
    harm: 'a screen misses an order whose transaction took long',
    edits: [
      {
        file: 'src/staff/live-changes/store.ts',
        find: 'Math.floor(nowMs / SLICE_MS - 1) * SLICE_MS',
        replace: 'nowMs',
      },
    ],
    suites: ['src/staff/live-changes/hints.test.ts'],
  },
  {
    name: 'hint for a row that grows old',
    harm: 'each screen reads its orders twice for each order',
    edits: [
      {
        file: 'src/staff/live-changes/stream.ts',
        find: 'Object.keys(look).filter',
        replace: 'Object.keys({ ...this.#look, ...look }).filter',
      },
    ],
    suites: ['src/staff/live-changes/stream.test.ts'],
  },
  {
    name: 'stream that does not begin with resync',
    harm: 'a client that connects again misses the changes that came in between',
    edits: [
      {
        file: 'src/staff/live-changes/stream.ts',
        find: '#lookedAtMs = Number.NEGATIVE_INFINITY',
        replace: '#lookedAtMs = performance.now()',
      },
    ],
    suites: ['src/staff/live-changes/hints.test.ts'],
  },
  {
    name: 'hint before the cache forgets',
    harm: 'a screen reads the old menu again, and shows it until it is read once more',
    edits: [
      {
        file: 'src/staff/live-changes/live-changes.ts',
        find: 'await changes.catchUp();',
        replace: '',
      },
    ],
    suites: ['src/staff/live-changes/live-changes.test.ts'],
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
    name: 'stream beyond the bound',
    harm: 'one caller takes one stream more than the others may have',
    edits: [
      {
        file: 'src/staff/live-changes/live-changes.ts',
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
