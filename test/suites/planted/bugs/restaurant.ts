import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/restaurant/`. */
export const RESTAURANT_BUGS: Bug[] = [
  {
    name: 'no unique key',
    harm: 'the kitchen cooks an order twice if it is sent twice',
    edits: [
      {
        file: 'migrations/0001_schema.sql',
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
        file: 'src/restaurant/orders/set-status.ts',
        find: 'request_id: requestId,',
        replace: 'request_id: null,',
      },
    ],
    suites: ['src/restaurant/orders/repeated-changes.test.ts'],
  },
  {
    name: 'pause that other nodes do not hear of',
    harm: 'the kitchen gets orders although it is closed',
    edits: [
      {
        file: 'src/restaurant/opening/opening.ts',
        find: 'await announceChange(tx, actor.tenantId);',
        replace: '',
      },
    ],
    suites: ['src/restaurant/opening/opening.test.ts'],
  },
  {
    name: 'quote of another menu price',
    harm: 'the guest pays another price than the one that was shown',
    edits: [
      {
        file: 'src/restaurant/orders/orders.ts',
        find: 'const { lines, total } = await this.#price(caller, input);',
        replace: 'const { lines, total } = await this.#price(caller, { items: input.items.slice(0, 1) });',
      },
    ],
    suites: ['src/restaurant/orders/quote.test.ts'],
  },
  {
    name: 'order without its notes',
    harm: "an order's notes are lost",
    edits: [{ file: 'src/restaurant/orders/store.ts', find: "['ready_by', 'cancel_reason']", replace: "['notes']" }],
    suites: ['src/restaurant/orders/batched-orders.test.ts'],
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
    suites: ['src/restaurant/orders/batched-orders.test.ts'],
  },
  {
    name: 'menu replaced in spite of its tag',
    harm: 'an editor overwrites the change of a colleague',
    edits: [
      {
        file: 'src/restaurant/menu/menu.ts',
        find: 'ifMatch === undefined || matchesIfMatch(',
        replace: "ifMatch !== '' || matchesIfMatch(",
      },
    ],
    suites: ['src/restaurant/menu/menu-tags.test.ts'],
  },
  {
    name: 'tag of a restored menu',
    harm: 'after a restore, an editor overwrites a menu that it has never read',
    edits: [
      {
        file: 'src/restaurant/menu/menu.ts',
        find: '"${tenantId}-${era}-${version}"',
        replace: '"${tenantId}-${era * 0}-${version}"',
      },
    ],
    suites: ['src/restaurant/menu/menu-tags.test.ts'],
  },
  {
    name: 'some of the dishes',
    harm: 'a typing error in one sku takes only some of the dishes off the menu',
    edits: [
      {
        file: 'src/restaurant/menu/dishes.ts',
        find: 'if (unknown !== undefined) {',
        replace: "if (unknown === '') {",
      },
    ],
    suites: ['src/restaurant/menu/availability.test.ts'],
  },
  {
    name: 'dry run that replaces the menu',
    harm: 'a preview takes dishes off the menu',
    edits: [
      {
        file: 'src/restaurant/menu/staff-routes.ts',
        find: 'if (query.dry_run === true) {',
        replace: 'if (query.dry_run === undefined) {',
      },
    ],
    suites: ['src/restaurant/menu/dry-run.test.ts'],
  },
];
