import { sql } from 'kysely';
import { createDatabase, type Database, type Db, isCluster } from '#platform/db/database.ts';
import { testLayout } from './test-cluster.ts';

/** Database connections that record each statement that is sent. */
export interface RecordedDatabase {
  db: Database;
  /** Runs `work` and returns the statements that were sent while it ran, oldest first. */
  statementsOf: (work: () => Promise<unknown>) => Promise<string[]>;
}

const layout = await testLayout();

export function openRecorded(url: string, poolSize: number): RecordedDatabase {
  const statements: string[] = [];
  return {
    db: createDatabase({ url, poolSize, layout, log: ({ query }) => statements.push(query.sql) }),
    async statementsOf(work) {
      const sentEarlier = statements.length;
      await work();
      return statements.slice(sentEarlier);
    },
  };
}

export async function countWaiting(db: Database): Promise<number> {
  const activity = sql.id(isCluster(db) ? 'citus_stat_activity' : 'pg_stat_activity');
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM ${activity} WHERE datname = current_database() AND wait_event_type = 'Lock'
  `.execute(db);
  return rows[0]?.count ?? 0;
}

export async function countDeadlocks(db: Db): Promise<number> {
  const { rows } = await sql<{ deadlocks: number }>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
  `.execute(db);
  return rows[0]?.deadlocks ?? Number.NaN;
}
