import { startChild } from '../child.ts';
import { BODY_AFTER_ID, BODY_BEFORE_ID } from '../events.ts';
import type { Postgres } from '../postgres.ts';
import type { GraphileWorkerJob } from '../queues/graphile-worker.ts';
import { connect } from '../sql.ts';
import { waitUntil } from '../wait.ts';
import type { Contestant, Field } from './contestant.ts';

export const GRAPHILE_WORKER = 'graphile-worker 0.18.0';

const RECORD_TIMEOUT_MS = 60_000;

/** Starts a worker of graphile-worker on its own database. */
export async function openGraphileWorker({ targets, cert, resources }: Field, postgres: Postgres): Promise<Contestant> {
  const databaseUrl = await postgres.clone('template0', 'bench_graphile_worker');
  // With NO_LOG_SUCCESS, the library does not spend time on a log line for each successful job.
  const child = resources.use(
    startChild<GraphileWorkerJob, void>('queues/graphile-worker.ts', { NO_LOG_SUCCESS: '1' }),
  );
  await child.ask({ databaseUrl, targets, cert });
  const client = resources.adopt(await connect(databaseUrl), (each) => each.end());
  return {
    name: GRAPHILE_WORKER,
    guarantees:
      'at least once, PostgreSQL with fsync. Each attempt is counted and committed when the job is fetched, at most 500 jobs in one ' +
      'statement. A job gets at most 25 attempts. A job is deleted after its POST, in batches, and the worker does not wait for the ' +
      'deletion. If a process dies, its jobs stay locked for 4 hours. All receivers share the 64 concurrent jobs.',
    pid: child.pid,
    storePid: postgres.pid,
    async store(receivers, events) {
      await client.query('VACUUM graphile_worker._private_jobs');
      await client.query('BEGIN');
      await client.query(
        `SELECT count(*) FROM graphile_worker.add_jobs((
           SELECT array_agg(json_populate_record(NULL::graphile_worker.job_spec, json_build_object(
             'identifier', 'deliver',
             'payload', json_build_object('target', number % $1::int, 'eventId', id, 'body', $3::text || id || $4))))
           FROM (SELECT number, uuidv7() AS id FROM generate_series(1, $2::int) AS number) AS new))`,
        [receivers, events, BODY_BEFORE_ID, BODY_AFTER_ID],
      );
      // Without ANALYZE, PostgreSQL has no statistics of the backlog, so it sorts all jobs at each fetch. The library is then half as fast.
      await client.query('ANALYZE graphile_worker._private_jobs');
      return async () => void (await client.query('COMMIT'));
    },
    async untilRecorded() {
      const isEmpty = async () =>
        (await client.query('SELECT FROM graphile_worker._private_jobs LIMIT 1')).rowCount === 0;
      await waitUntil(isEmpty, RECORD_TIMEOUT_MS, 'graphile-worker did not delete all jobs');
    },
  };
}
