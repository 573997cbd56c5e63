/** One replacement in a file, which is a part of a planted bug. `find` must occur in the file exactly once. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Bug {
  name: string;
  /** Damage that the bug would do to users of the service. */
  harm: string;
  edits: Edit[];
  /** Test files that must fail if the bug is in the code. */
  suites: string[];
}

/**
 * Bugs that services of this kind often have. `npm run test:planted` puts one at a time into the code, and a test must
 * fail.
 */
export const BUGS: Bug[] = [
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
    name: 'a lost part of a Redis Cluster divides all budgets',
    harm: 'one dead shard takes most of the budget from every partner whose calls go to one node',
    edits: [
      {
        file: 'src/platform/http/redis-losses.ts',
        find: 'if (areTogether(slot, each)) {',
        replace: 'if (areTogether(slot, each) || each >= 0) {',
      },
    ],
    suites: ['src/platform/http/redis-servers.test.ts'],
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
    name: 'processes that start together do not see each other',
    harm: 'ten processes with DATABASE_POOL_SIZE=auto take more connections than PostgreSQL allows',
    edits: [
      {
        file: 'src/platform/db/pool-size.ts',
        find: 'automaticSize(server, undecided + 1)',
        replace: 'automaticSize(server, undecided && 1)',
      },
    ],
    suites: ['src/platform/db/pool-size.test.ts'],
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
    name: 'repeat changes the stay again',
    harm: 'a repeated change with another status changes the stay and writes a second event',
    edits: [
      {
        file: 'src/hotel/reservations/reservations.ts',
        find: 'requestId === row.status_request_id)',
        replace: 'requestId === row.status_request_id && status === row.status)',
      },
    ],
    suites: ['src/hotel/reservations/repeated-changes.test.ts'],
  },
  {
    name: 'count after send',
    harm: 'a receiver sees a sixth POST when workers die',
    edits: [
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: 'attempt_count = d.attempt_count + (due.is_active AND due.has_attempts_left)::int,',
        replace: 'attempt_count = d.attempt_count,',
      },
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: 'attempt_count = d.attempt_count - (o.result IS NULL)::int,',
        replace: 'attempt_count = d.attempt_count + 1,',
      },
    ],
    suites: ['src/webhooks/deliveries/delivery-worker.test.ts'],
  },
  {
    name: 're-serialised body',
    harm: 'the bytes that arrive are not the bytes that were stored',
    edits: [
      {
        file: 'src/webhooks/events/store.ts',
        find: '${event.body} AS body,',
        replace: '${event.body}::jsonb::text AS body,',
      },
    ],
    suites: ['src/webhooks/deliveries/retries.test.ts'],
  },
  {
    name: 'unsorted night locks',
    harm: 'two concurrent changes of stays wait for each other in a deadlock',
    edits: [
      {
        file: 'src/platform/db/inputs.ts',
        find: 'const sorted = rows.toSorted(by(key));',
        replace: 'const sorted = rows;',
      },
    ],
    suites: ['src/hotel/channels/receiver-race.test.ts'],
  },
  {
    name: 'event after commit',
    harm: 'an order changes without an event if the process dies between the two writes',
    edits: [
      {
        file: 'src/webhooks/events/transaction-with-events.ts',
        find: 'const targets = await insertEvents(this.#tx, events);',
        replace: 'const targets = new Map(); setTimeout(() => void insertEvents(this.#tx, events).catch(() => {}), 5);',
      },
    ],
    suites: ['src/webhooks/deliveries/delivery.test.ts'],
  },
  {
    name: 'shared sending slots',
    harm: 'deliveries to healthy receivers wait for deliveries to failing receivers',
    edits: [
      {
        file: 'src/webhooks/deliveries/sending-slots.ts',
        find: 'return Math.max(0, Math.min(receiver.share - receiver.underWay, this.#freeOfAll(receiver)));',
        replace: 'return Math.max(0, 16 - this.#underWay);',
      },
    ],
    suites: ['src/webhooks/deliveries/fairness.test.ts'],
  },
  // Some operations have one statement for a single input and another statement for several inputs. Each of the
  // following bugs is in only one of these two statements. Only a test in test/parity/ notices the bug, because such a
  // test compares both statements.
  {
    name: 'delivery list asks all nodes of a cluster',
    harm: 'on a cluster, the list of a credential fails for all tenants while one node is down',
    edits: [
      {
        file: 'src/webhooks/deliveries/list-store.ts',
        find: ".where('event.tenant_id', '=', tenantId)",
        replace: ".whereRef('event.tenant_id', '=', 'delivery.tenant_id')",
      },
    ],
    suites: ['test/routing/statements.test.ts'],
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
  {
    name: 'lines as a text',
    harm: 'the kitchen gets the lines of an order as one string instead of a list',
    edits: [
      {
        file: 'src/platform/db/inputs.ts',
        find: 'isJson(type) ? `given."${name}"::${type}`',
        replace: 'isJson(type) ? `to_json(given."${name}")`',
      },
    ],
    suites: ['test/parity/orders.test.ts'],
  },
  {
    name: 'guest without an address',
    harm: 'a guest gets no mail',
    edits: [{ file: 'src/hotel/reservations/store.ts', find: "  guest_email: 'text',\n", replace: '' }],
    suites: ['test/parity/reservations.test.ts'],
  },
  {
    name: 'one event for a batch',
    harm: 'the platform gets one event for several bookings that arrived together',
    edits: [
      {
        file: 'src/hotel/reservations/booking.ts',
        find: 'await record(...booked.map(',
        replace: 'await record(...booked.slice(0, 1).map(',
      },
    ],
    suites: ['test/parity/reservations.test.ts'],
  },
  {
    name: 'event without its lease',
    harm: 'an event is sent twice: by its own process and by the scan',
    edits: [
      {
        file: 'src/webhooks/events/store.ts',
        find: '${event.leaseSeconds} AS lease_seconds',
        replace: '0.0::float8 AS lease_seconds',
      },
    ],
    suites: ['test/parity/events.test.ts'],
  },
  {
    name: 'delivery on a cluster without its lease',
    harm: 'an event is sent twice: by its own process and by the scan',
    edits: [
      {
        file: 'src/webhooks/events/store.ts',
        find: 'firstClaim(leaseId, leaseSeconds)',
        replace: 'firstClaim(sql`NULL::uuid`, leaseSeconds)',
      },
    ],
    suites: ['test/parity/events.test.ts'],
  },
  {
    name: 'capacity of another room type on a cluster',
    harm: 'a room is sold that does not exist, but only on a cluster',
    edits: [
      {
        file: 'src/hotel/nights/store.ts',
        find: '(${[...capacities.values()]}::int[])',
        replace: '(${[...capacities.values()].reverse()}::int[])',
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'one batch for all tenants of a cluster',
    harm: 'a cluster refuses the statement, or a tenant gets the data of another one',
    edits: [
      {
        file: 'src/platform/db/batching.ts',
        find: 'const tenantId = work.tenantIdOf(input);',
        replace: 'const tenantId = 0;',
      },
    ],
    suites: ['src/platform/db/batching.test.ts'],
  },
  {
    name: 'claim of one delivery only',
    harm: 'a receiver gets one event in each claim, so a backlog takes hours',
    edits: [{ file: 'src/webhooks/deliveries/store.ts', find: 'LIMIT wanted.count', replace: 'LIMIT 1' }],
    suites: ['test/parity/deliveries.test.ts'],
  },
  {
    name: 'retry without its wait',
    harm: 'all attempts of a delivery are made within a second',
    edits: [{ file: 'src/webhooks/deliveries/store.ts', find: 'ELSE o.retry_at END', replace: 'ELSE now() END' }],
    suites: ['test/parity/deliveries.test.ts'],
  },
  {
    name: 'one room a night',
    harm: 'two rooms that are booked together count as one',
    edits: [
      { file: 'src/hotel/nights/store.ts', find: '    held: rooms,\n', replace: '    held: Math.sign(rooms),\n' },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'one room too many',
    harm: 'the last room is sold twice',
    edits: [
      {
        file: 'src/hotel/nights/store.ts',
        find: 'n.held + excluded.held <= ${capacity}',
        replace: 'n.held <= ${capacity}',
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'night after the stay',
    harm: 'a free room appears taken on the day of a check-out',
    edits: [
      {
        file: 'src/hotel/nights/store.ts',
        find: 'AND date >= ${checkIn} AND date < ${checkOut}\n',
        replace: 'AND date >= ${checkIn} AND date <= ${checkOut}\n',
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'price replaced by a restriction',
    harm: 'a stop-sell resets the price of its night',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: "price === 'keep' ? 'rate.price' : 'given.price'",
        replace: "'given.price'",
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'price replaced on a cluster',
    harm: 'a stop-sell resets the price of its night, but only on a cluster',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: "price === 'keep' ? 'rate.price' : 'excluded.price'",
        replace: "'excluded.price'",
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'nights at the base price',
    harm: 'a stay is sold at the base price of its plan, even if a night has another price',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: 'SELECT date, price::text, is_sold_out FROM rate',
        replace: 'SELECT date, NULL AS price, is_sold_out FROM rate',
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
  {
    name: 'closed nights for sale',
    harm: 'a night that is closed in every plan is shown as free',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: 'AND date < ${checkOut} AND is_sold_out',
        replace: 'AND date < ${checkOut} AND NOT is_sold_out',
      },
    ],
    suites: ['test/parity/nights-and-rates.test.ts'],
  },
];
