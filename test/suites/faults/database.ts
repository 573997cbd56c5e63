import type pg from 'pg';

/**
 * Access of the suite to the database of the service. The service connects through a `DatabaseLink` and on a cluster also through a pooler,
 * but the suite does not use them.
 */
export interface Database {
  /** Runs a statement. Repeats it if the connection is lost, so the statement may take effect twice. */
  query<Row extends pg.QueryResultRow>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Opens a separate session, for example for a transaction that stays open. The caller ends the session. */
  openSession(): Promise<pg.Client>;
}
