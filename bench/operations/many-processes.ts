import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { POLL_EVERY_MS } from '#platform/changes/changes.ts';
import { readChanges } from '#platform/changes/store.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { DELIVERY_PACE } from '#webhooks/deliveries/delivery-worker.ts';
import { findDue } from '#webhooks/deliveries/store.ts';
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
/** Mean number of polls for due deliveries that one worker makes in a second. A wait is shorter by a random part of up to a quarter. */
const POLLS_PER_SECOND = 1_000 / (0.875 * DELIVERY_PACE.pollEveryMs);
/** Goal: largest number of CPU cores that PostgreSQL uses for the regular statements of 1,000 idle processes. */
const MOST_CORES = 1;

export const MANY_PROCESSES: Operation[] = [{ name: 'many-processes', measure: measureManyProcesses }];

/**
 * Measures the CPU time of PostgreSQL for each statement that an idle process sends regularly. From these times, the function calculates
 * how many CPU cores PostgreSQL needs for many idle processes. Most of the cost of each statement is the cost of waking a PostgreSQL
 * process. The statement `SELECT 1` has only this cost, so it is the floor.
 *
 * One of the measured statements is the poll for due deliveries. The function measures it while no delivery waits, and while a delivery of
 * each credential waits for a retry.
 */
async function measureManyProcesses(world: World): Promise<ProcessRow[]> {
  const url = await world.tenantDatabase('bench_many_processes');
  await withConnection(url, async (client) => {
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
    measureCostUs(connections, world.options.seconds * world.options.rounds, statement);
  const poll = (db: Database) => findDue(db, null, 5_000);
  const floor = await measure((db) => sql`SELECT 1`.execute(db));
  const changes = await measure(pollByTransaction());
  const idle = await measure(poll);
  await withConnection(url, (client) =>
    client.query(`
      INSERT INTO delivery (tenant_id, id, credential_id, status, next_attempt_at)
      SELECT tenant_id, gen_random_uuid(), id, 'pending', now() + interval '1 hour' FROM credential`),
  );
  return rowsOf({ floor, changes, idle, waiting: await measure(poll) });
}

function pollByTransaction(): (db: Database) => Promise<void> {
  const since = new Map<Database, string>();
  return async (db) => {
    const { oldestRunning } = await readChanges(db, since.get(db) ?? null);
    since.set(db, oldestRunning);
  };
}

/** Sends the statement repeatedly on all connections. @returns the mean CPU time of PostgreSQL for one statement, in microseconds */
async function measureCostUs(
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

type Costs = Record<'floor' | 'changes' | 'idle' | 'waiting', number>;

function rowsOf({ floor, changes, idle, waiting }: Costs): ProcessRow[] {
  const work = (name: string, costUs: number, perSecond: number): ProcessRow => ({
    work: name,
    costUs,
    coresAt: (processes) => (processes * perSecond * costUs) / 1_000_000,
  });
  const changesPoll = work('poll of the new changes', changes, 1_000 / POLL_EVERY_MS);
  const duePoll = work('poll for due deliveries, none waits', idle, POLLS_PER_SECOND);
  return [
    changesPoll,
    duePoll,
    {
      work: 'all',
      coresAt: (processes) => changesPoll.coresAt(processes) + duePoll.coresAt(processes),
      mostCores: MOST_CORES,
    },
    work('poll for due deliveries, all credentials wait for a retry', waiting, POLLS_PER_SECOND),
    work('floor of the polls: SELECT 1', floor, 1_000 / POLL_EVERY_MS),
  ];
}
