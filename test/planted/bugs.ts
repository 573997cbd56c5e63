/** One place where a bug is planted: a text that stands there once, and what takes its place. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Bug {
  name: string;
  /** What would go wrong for the people who use the service. */
  harm: string;
  edits: Edit[];
  /** The suites that must turn red. */
  suites: string[];
}

/** What integrations commonly get wrong, one thing each. */
export const BUGS: Bug[] = [
  {
    name: 'no unique key',
    harm: 'an order that is sent twice is cooked twice',
    edits: [
      {
        file: 'migrations/0005_orders.sql',
        find: 'UNIQUE (tenant_id, credential_id, external_order_id)',
        replace: 'CHECK (tenant_id > 0)',
      },
      {
        file: 'src/orders/store.ts',
        find: "conflict.columns(['tenant_id', 'credential_id', 'external_order_id']).doNothing()",
        replace: 'conflict.doNothing()',
      },
      {
        file: 'src/orders/store.ts',
        find: 'ON CONFLICT (tenant_id, credential_id, external_order_id) DO NOTHING',
        replace: 'ON CONFLICT DO NOTHING',
      },
    ],
    suites: ['src/orders/replays.test.ts'],
  },
  {
    name: 'count after send',
    harm: 'a receiver sees a sixth POST when workers die',
    edits: [
      {
        file: 'src/webhooks/delivery-store.ts',
        find: 'attempt_count = e.attempt_count + (c.is_active AND e.attempt_count < ${MAX_ATTEMPTS})::int,',
        replace: 'attempt_count = e.attempt_count,',
      },
      {
        file: 'src/webhooks/delivery-store.ts',
        find: '      delivery_status = o.status,',
        replace: '      delivery_status = o.status, attempt_count = e.attempt_count + 1,',
      },
    ],
    suites: ['src/webhooks/delivery-worker.test.ts'],
  },
  {
    name: 're-serialised body',
    harm: 'the bytes that arrive are not the bytes that were stored',
    edits: [
      {
        file: 'src/webhooks/delivery-store.ts',
        find: '${event.body}::text',
        replace: '${event.body}::jsonb::text',
      },
    ],
    suites: ['src/webhooks/retries.test.ts'],
  },
  {
    name: 'unsorted night locks',
    harm: 'two stays that change places wait for each other for ever',
    edits: [{ file: 'src/nights/nights.ts', find: '    .sort(([a], [b]) => (a < b ? -1 : 1))\n', replace: '' }],
    suites: ['src/channels/receiver-race.test.ts'],
  },
  {
    name: 'event after commit',
    harm: 'an order changes and nobody is told, because the process died in between',
    edits: [
      {
        file: 'src/webhooks/prepared-event.ts',
        find: 'const target = await insertEvent(tx, event);',
        replace: 'const target = null; setTimeout(() => void insertEvent(tx, event).catch(() => {}), 5);',
      },
    ],
    suites: ['src/webhooks/delivery.test.ts'],
  },
  {
    name: 'shared sending slots',
    harm: 'healthy receivers wait for dead ones',
    edits: [
      {
        file: 'src/webhooks/sending-slots.ts',
        find: 'return Math.max(0, Math.min(receiver.share - receiver.underWay, left, MAX_UNDER_WAY - this.#underWay));',
        replace: 'return Math.max(0, Math.min(left + receiver.share, 16) - this.#underWay);',
      },
    ],
    suites: ['src/webhooks/fairness.test.ts'],
  },
];
