import type { Bug } from './bug.ts';

/** Bugs in the wing `restaurant/`. */
export const RESTAURANT_BUGS: Bug[] = [
  {
    name: 'no unique key',
    harm: 'the kitchen cooks an order twice if it is sent twice',
    edits: [
      {
        file: 'migrations/0005_orders.sql',
        find: 'UNIQUE (tenant_id, credential_id, external_order_id)',
        replace: 'CHECK (tenant_id > 0)',
      },
      {
        file: 'src/restaurant/orders/store.ts',
        find: 'ON CONFLICT (tenant_id, credential_id, external_order_id) DO NOTHING',
        replace: 'ON CONFLICT DO NOTHING',
      },
    ],
    suites: ['src/restaurant/orders/replays.test.ts'],
  },
  {
    name: 'request id not stored',
    harm: 'staff get 409 for a change of an order that the service has made',
    edits: [
      {
        file: 'src/restaurant/orders/store.ts',
        find: '.set(change)',
        replace: '.set({ status: change.status })',
      },
    ],
    suites: ['src/restaurant/orders/repeated-changes.test.ts'],
  },
  {
    name: 'order without its notes',
    harm: "an order's notes are lost",
    edits: [{ file: 'src/restaurant/orders/store.ts', find: "  notes: 'text',\n", replace: '' }],
    suites: ['test/parity/orders.test.ts'],
  },
  {
    name: 'order of another credential',
    harm: "a partner reads another partner's order",
    edits: [
      {
        file: 'src/restaurant/orders/store.ts',
        find: 'AND credential_id = ${credentialId} AND external_order_id',
        replace: 'AND external_order_id',
      },
    ],
    suites: ['test/parity/orders.test.ts'],
  },
];
