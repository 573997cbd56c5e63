import type pg from 'pg';

/** Access of the suite to the database of the service. It does not use the proxies and poolers through which the service connects. */
export interface Database {
  /** Runs a statement. Repeats it if the connection is lost, so the statement may take effect twice. */
  query<Row extends pg.QueryResultRow>(statement: string, values?: unknown[]): Promise<Row[]>;
  /** Opens a separate session, for example for a transaction that stays open. The caller ends the session. */
  openSession(): Promise<pg.Client>;
}
