import { sql } from 'kysely';
import type { Database } from './database.ts';
import { connectForTransfer } from './transfer-session.ts';

/** State of a transaction. Null: the server has not begun a transaction with this id, or no longer knows how it ended. */
export type Outcome = 'committed' | 'aborted' | 'in progress' | null;

/** Returns the id of the transaction in which `db` runs its statements, as a decimal text. */
export async function readTransactionId(db: Database): Promise<string> {
  const { rows } = await sql<{ id: string }>`SELECT pg_current_xact_id()::text AS id`.execute(db);
  return rows[0]?.id ?? '';
}

/**
 * Reads from the server how a transaction ended. A process needs this if it lost its connection during a COMMIT, because the COMMIT may
 * have succeeded.
 * @param url URL of the server on which the transaction ran
 * @throws the error of pg if the database is out of reach
 */
export async function readOutcome(url: string, transactionId: string): Promise<Outcome> {
  const client = await connectForTransfer(url);
  try {
    // `pg_xact_status` fails for an id that PostgreSQL has not given to a transaction yet. The SELECT gets a new transaction id from
    // `pg_current_xact_id`. PostgreSQL has already given all lower ids to transactions. So the SELECT calls `pg_xact_status` only if the id
    // in `$1` is lower than its own new id.
    const { rows } = await client.query<{ outcome: Outcome }>(
      'SELECT CASE WHEN $1::xid8 < pg_current_xact_id() THEN pg_xact_status($1::xid8) END AS outcome',
      [transactionId],
    );
    return rows[0]?.outcome ?? null;
  } finally {
    await client.end();
  }
}
