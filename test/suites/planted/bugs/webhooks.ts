import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/webhooks/`. */
export const WEBHOOKS_BUGS: Bug[] = [
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
    suites: ['src/webhooks/deliveries/delivery.test.ts'],
  },
  {
    name: 'event after commit',
    harm: 'an order changes without an event if the process dies between the two writes',
    edits: [
      {
        file: 'src/webhooks/events/events.ts',
        find: 'due.push(...(await insertEvents(tx, drafted)));',
        replace: 'setTimeout(() => void insertEvents(tx, drafted).catch(() => {}), 5);',
      },
    ],
    suites: ['src/webhooks/deliveries/delivery.test.ts'],
  },
  {
    name: 'shared places',
    harm: 'deliveries to healthy receivers wait for deliveries to receivers that hang',
    edits: [
      {
        file: 'src/webhooks/deliveries/schedule.ts',
        find: 'PLACES - this.takenByHealthy - Math.min(this.#takenByLagging, HALF)',
        replace: 'PLACES - this.#taken',
      },
    ],
    suites: ['src/webhooks/deliveries/schedule.test.ts'],
  },
  {
    name: 'all places for one tenant',
    harm: 'a tenant with many receivers delays the deliveries of all other tenants',
    edits: [
      {
        file: 'src/webhooks/deliveries/schedule.ts',
        find: 'Math.min(this.#freeAt(receiver, equalPart), this.#freeOf(tenantId))',
        replace: 'this.#freeAt(receiver, equalPart)',
      },
    ],
    suites: ['src/webhooks/deliveries/schedule.test.ts'],
  },
  {
    name: 'claimed ahead for a failing receiver',
    harm: 'an outage of a receiver uses an attempt of each event that was claimed ahead',
    edits: [
      {
        file: 'src/webhooks/deliveries/schedule.ts',
        find: 'this.#probeRestMs;\n        giveBack(receiver);\n',
        replace: 'this.#probeRestMs;\n',
      },
    ],
    suites: ['src/webhooks/deliveries/schedule.test.ts'],
  },
  {
    name: 'outcome without its fence',
    harm: 'a worker that was suspended overwrites the outcome of the worker that took over',
    edits: [{ file: 'src/webhooks/deliveries/store.ts', find: ' AND d.lease_id = o.lease_id', replace: '' }],
    suites: ['src/webhooks/deliveries/outcomes.test.ts'],
  },
  {
    name: 'attempt at the end of its lease',
    harm: 'a process that was suspended sends an event at the same time as the worker that took over',
    edits: [
      {
        file: 'src/webhooks/deliveries/delivery-worker.ts',
        find: 'performance.now() > delivery.lease.beginBeforeMs',
        replace: 'false',
      },
    ],
    suites: ['src/webhooks/deliveries/own-events.test.ts'],
  },
  {
    name: 'no poll',
    harm: 'retries and the deliveries of dead workers are never made',
    edits: [
      {
        file: 'src/webhooks/deliveries/delivery-worker.ts',
        find: '    found.forEach((queue) => this.#schedule.add(queue));\n',
        replace: '',
      },
    ],
    suites: ['src/webhooks/deliveries/own-events.test.ts'],
  },
  {
    name: 'claim of one delivery only',
    harm: 'a receiver gets one event in each claim, so a backlog takes hours',
    edits: [{ file: 'src/webhooks/deliveries/store.ts', find: 'LIMIT wanted.count', replace: 'LIMIT 1' }],
    suites: ['src/webhooks/deliveries/claims.test.ts'],
  },
  {
    name: 'retry without its wait',
    harm: 'all attempts of a delivery are made within a second',
    edits: [{ file: 'src/webhooks/deliveries/store.ts', find: 'ELSE o.retry_at END', replace: 'ELSE now() END' }],
    suites: ['src/webhooks/deliveries/outcomes.test.ts'],
  },
  {
    name: 'only the last response',
    harm: 'staff see the response to the last attempt only, and not why the earlier attempts failed',
    edits: [
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: "coalesce(d.answers, '{}'::jsonb) || o.answer::jsonb END",
        replace: 'o.answer::jsonb END',
      },
    ],
    suites: ['src/webhooks/deliveries/delivery-detail.test.ts'],
  },
  {
    name: 'test calls without a bound',
    harm: 'staff flood the server of a partner',
    edits: [
      {
        file: 'src/webhooks/deliveries/routes.ts',
        find: '      await countCall(budget, receiver.credentialId, reply);\n',
        replace: '',
      },
    ],
    suites: ['src/webhooks/deliveries/test-call.test.ts'],
  },
  {
    name: 'response of a private server',
    harm: 'staff read the pages of servers in the private network of the operator',
    edits: [
      {
        file: 'src/webhooks/deliveries/attempt.ts',
        find: 'keepAnswers = !allowPrivateNetwork',
        replace: 'keepAnswers = true',
      },
    ],
    suites: ['src/webhooks/deliveries/test-call.test.ts'],
  },
  {
    name: 'stopped delivery that waits again',
    harm: 'a delivery goes to a URL that is registered after the removal of its own',
    edits: [
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: "CASE WHEN d.status = 'stopped' AND o.status <> 'delivered' THEN d.status ELSE o.status END",
        replace: 'o.status',
      },
    ],
    suites: ['src/staff/partners/credential-webhook.test.ts'],
  },
  {
    name: 'stop of all partners',
    harm: 'the removal of one webhook stops the deliveries of all partners',
    edits: [
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: 'AND credential_id = ${credentialId} ',
        replace: '',
      },
    ],
    suites: ['src/staff/partners/credential-webhook.test.ts'],
  },
  {
    name: 'feed of an unknown credential',
    harm: 'staff of a tenant learn which ids of credentials exist elsewhere',
    edits: [
      {
        file: 'src/access/credentials/store.ts',
        find: "return await credentialsOf(db, tenantId).where('id', '=', id)",
        replace: "return await db.selectFrom('credential').selectAll().where('id', '=', id)",
      },
    ],
    suites: ['src/webhooks/events/staff-events.test.ts'],
  },
  {
    name: 'deliveries of about this time',
    harm: 'a list by time has deliveries of the minute before',
    edits: [
      {
        file: 'src/webhooks/deliveries/store.ts',
        find: '      ...given(createdFromMs, (ms) => sql`${createdAt} >= ${new Date(ms)}`),\n',
        replace: '',
      },
    ],
    suites: ['src/webhooks/deliveries/delivery-list.test.ts'],
  },
];
