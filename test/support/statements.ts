import { sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';

/** A way to a database that notes what goes over it. */
export interface RecordedDatabase {
  db: Database;
  /** The statements that a piece of work sends, oldest first. */
  statementsOf: (work: () => Promise<unknown>) => Promise<string[]>;
}

export function openRecorded(url: string, poolSize: number): RecordedDatabase {
  const statements: string[] = [];
  return {
    db: createDatabase({ url, poolSize, log: ({ query }) => statements.push(query.sql) }),
    async statementsOf(work) {
      const sentEarlier = statements.length;
      await work();
      return statements.slice(sentEarlier);
    },
  };
}

/** Statements of the database that wait for a lock which another transaction holds. */
export async function countWaiting(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  `.execute(db);
  return rows[0]?.count ?? 0;
}
