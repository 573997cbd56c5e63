import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { POLL_EVERY_MS } from '#platform/changes/changes.ts';
import { readChanges } from '#platform/changes/store.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { isMigrated } from '#platform/db/migrate.ts';
import { newId } from '#platform/lib/ids.ts';
import { MEAN_SCAN_MS } from '#webhooks/deliveries/delivery-worker.ts';
import { ALWAYS_OPEN, MEAN_LOOK_MS, RENEW_EVERY_MS } from '#webhooks/deliveries/scan-lease.ts';
import { lookForFreeSlot, renewSlot, takeSlot } from '#webhooks/deliveries/scan-lease-store.ts';
import { findDueQueues } from '#webhooks/deliveries/store.ts';
import { onCpuMsOf } from '../cpu.ts';
import type { ProcessRow } from '../process-table.ts';
import { withConnection } from '../sql.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of connections that send the measured statements. Each connection represents one process, and has its own PostgreSQL backend. */
const CONNECTIONS = 20;
/**
 * Pause between two statements of a connection, in milliseconds. PostgreSQL needs more CPU time for a statement that follows a pause. So
 * the measurement makes pauses too. Each pause has the length of the shortest pause of a real process.
 */
const EVERY_MS = 150;
const WARM_UP_SECONDS = 1;
/**
 * Numbers of rows in the table `recent_change`. `recent` rows are at most two minutes old. `older` rows are two to ten minutes old. The
 * service removes a row after ten minutes.
 */
const CHANGES = { recent: 300, older: 1_200 };
/**
 * Interval in milliseconds between two reads of the table `recent_change` by one process, before decision 34. This decision made the
 * statements of idle processes fewer and cheaper. The result of the benchmark shows the CPU cores before and after the decision.
 */
const OLD_POLL_EVERY_MS = 150;
/**
 * Shortest interval in milliseconds between two statements of the readiness probe `/readyz`, before decision 34. Since this decision,
 * `/readyz` normally sends no statement. The result of the benchmark shows the CPU cores before and after the decision.
 */
const PROBE_EVERY_MS = 1_000;
/** Goal of decision 34: largest number of CPU cores that PostgreSQL uses for the regular statements of 1,000 idle processes. */
const MOST_CORES = 1;

export const MANY_PROCESSES: Operation[] = [{ name: 'many-processes', measure: measureManyProcesses }];

/**
 * Measures the CPU time of PostgreSQL for each statement that an idle process sends regularly. From these times, the function calculates
 * how many CPU cores PostgreSQL needs for many idle processes. Most of the cost of each statement is the cost of waking a PostgreSQL
 * process. The statement `SELECT 1` has only this cost, so it is the floor.
 *
 * One of the measured statements searches for due deliveries. This search reads the first waiting delivery of each credential, even if the
 * delivery is not due yet. So the search is most expensive if every credential has a waiting delivery. For this reason, the function first
 * stores one waiting delivery for every credential.
 */
async function measureManyProcesses(world: World): Promise<ProcessRow[]> {
  const url = await world.tenantDatabase('bench_many_processes');
  await withConnection(url, async (client) => {
    await client.query(`
      INSERT INTO delivery (tenant_id, id, credential_id, status, next_attempt_at)
      SELECT tenant_id, gen_random_uuid(), id, 'pending', now() + interval '1 hour' FROM credential`);
    await client.query(
      `INSERT INTO recent_change (id, tenant_id, changed_at) SELECT gen_random_uuid(), n, now() - n * interval '0.4 s' FROM generate_series(1, $1::int) AS n`,
      [CHANGES.recent + CHANGES.older],
    );
    await client.query('VACUUM ANALYZE');
  });
  await using pools = new AsyncDisposableStack();
  const connections = Array.from({ length: CONNECTIONS }, () =>
    pools.adopt(createDatabase({ url, poolSize: 1 }), (db) => db.destroy()),
  );
  const measure = (statement: (db: Database) => Promise<unknown>) =>
    costUs(connections, world.options.seconds * world.options.rounds, statement);
  return rowsOf({
    floor: await measure((db) => sql`SELECT 1`.execute(db)),
    oldPoll: await measure(pollByTime),
    probe: await measure((db) => isMigrated(db)),
    poll: await measure(pollByTransaction()),
    scan: await measure((db) => findDueQueues(db, { after: null, limit: 5_000, passOver: [] })),
    look: await measure((db) => lookForFreeSlot(db)),
    renewal: await measure(await renewals(connections)),
  });
}

/** Reads the changes of tenant data that are at most two minutes old, as every process did at regular intervals before decision 34. */
async function pollByTime(db: Database): Promise<void> {
  await sql`SELECT id, tenant_id FROM recent_change WHERE changed_at > now() - make_interval(secs => 120)`.execute(db);
}

function pollByTransaction(): (db: Database) => Promise<void> {
  const since = new Map<Database, string>();
  return async (db) => {
    const { oldestRunning } = await readChanges(db, since.get(db) ?? null);
    since.set(db, oldestRunning);
  };
}

/**
 * Makes each connection take one scan lease. In the service, a process with a scan lease may search the database for due deliveries.
 * Returns a function that renews the scan lease of a connection.
 */
async function renewals(connections: Database[]): Promise<(db: Database) => Promise<boolean>> {
  const held = new Map(connections.map((db, index) => [db, { slot: index + 1, id: newId() }]));
  const [first] = connections;
  await (first && sql`UPDATE scan_lease SET open_until = 'infinity'`.execute(first));
  for (const [db, { slot, id }] of held) {
    await takeSlot(db, slot, id, 60);
  }
  return async (db) => {
    const { slot = 0, id = '' } = held.get(db) ?? {};
    return await renewSlot(db, slot, id, 60);
  };
}

/** Sends the statement repeatedly on all connections. @returns the mean CPU time of PostgreSQL for one statement, in microseconds */
async function costUs(
  connections: Database[],
  seconds: number,
  statement: (db: Database) => Promise<unknown>,
): Promise<number> {
  const send = async (forSeconds: number) => {
    const counts = connections.map(async (db, index) => {
      await sleep((EVERY_MS * index) / connections.length);
      let count = 0;
      for (const endMs = performance.now() + forSeconds * 1_000; performance.now() < endMs; count += 1) {
        await statement(db);
        await sleep(EVERY_MS);
      }
      return count;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await send(WARM_UP_SECONDS);
  const pids = await Promise.all(connections.map(backendOf));
  const beforeMs = await onCpuMsOf(pids);
  const count = await send(seconds);
  return (((await onCpuMsOf(pids)) - beforeMs) / count) * 1_000;
}

async function backendOf(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
  return rows[0]?.pid ?? 0;
}

type Costs = Record<'floor' | 'oldPoll' | 'probe' | 'poll' | 'scan' | 'look' | 'renewal', number>;

function rowsOf(costs: Costs): ProcessRow[] {
  const work = (name: string, cost: number, perSecond: number, workers = Number.POSITIVE_INFINITY): ProcessRow => ({
    work: name,
    costUs: cost,
    coresAt: (processes) => (Math.min(processes, workers) * perSecond * cost) / 1_000_000,
  });
  const total = (name: string, rows: ProcessRow[], mostCores?: number): ProcessRow[] => [
    ...rows,
    {
      work: name,
      coresAt: (processes) => rows.reduce((sum, { coresAt }) => sum + coresAt(processes), 0),
      ...(mostCores === undefined ? {} : { mostCores }),
    },
  ];
  const scans = 1_000 / MEAN_SCAN_MS;
  const before = total('all, before', [
    work(`poll of ${CHANGES.recent} changes, before`, costs.oldPoll, 1_000 / OLD_POLL_EVERY_MS),
    work('search for due deliveries by each process, before', costs.scan, scans),
    work('readiness probe, before', costs.probe, 1_000 / PROBE_EVERY_MS),
  ]);
  const now = total(
    'all, now',
    [
      work('poll of the new changes', costs.poll, 1_000 / POLL_EVERY_MS),
      work(`search for due deliveries by ${ALWAYS_OPEN} processes`, costs.scan, scans, ALWAYS_OPEN),
      work('look for a free scan lease', costs.look, 1_000 / MEAN_LOOK_MS),
      work(`renewal of ${ALWAYS_OPEN} scan leases`, costs.look + costs.renewal, 1_000 / RENEW_EVERY_MS, ALWAYS_OPEN),
      work('readiness probe', 0, 1_000 / PROBE_EVERY_MS),
    ],
    MOST_CORES,
  );
  const floor = work('floor of the polls: SELECT 1', costs.floor, 1_000 / POLL_EVERY_MS);
  return [...before, ...now, floor];
}
