import {
  Kysely,
  type LogEvent,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely';
import pg from 'pg';
import type { DB } from './types.ts';

export type Database = Kysely<DB>;
export type Tx = Transaction<DB>;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Whether a statement may take as long as it needs, as a migration or a recount may; a request's may not. */
  isPatient?: boolean;
  /** Told of connections that break while idle. Nothing is lost by them: the pool opens new ones. */
  onConnectionError?: (error: Error) => void;
  log?: (event: LogEvent) => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUTS = {
  /** The server ends a statement after this long, in milliseconds … */
  statement_timeout: 10_000,
  /** … and where the server itself is out of reach, the client gives up a little later. */
  query_timeout: 12_000,
  idle_in_transaction_session_timeout: 15_000,
};

/** int8 → number (our ids and counts stay below 2^53); numeric and date stay text (pg's default for numeric). */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) {
      return Number;
    }
    if (oid === pg.types.builtins.DATE) {
      return String;
    }
    return pg.types.getTypeParser(oid, format);
  },
};

/** Opens a pool. Connections are made when first needed, so this neither waits nor fails. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: 'roomservice pool',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.isPatient ? {} : REQUEST_TIMEOUTS),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // Dates are read as ISO text, whatever the database or the role is set to.
    options: '-c datestyle=ISO',
    types,
  });
  const onError = options.onConnectionError ?? (() => {});
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return new Kysely<DB>({
    dialect: new PostgresDialect({ pool: discardingPool(pool) }),
    ...(options.log ? { log: options.log } : {}),
  });
}

/**
 * The pool as Kysely sees it, but a client whose query ran into the client-side timeout is thrown away: the late answer to
 * the old query would otherwise be taken for the answer to the next one's.
 */
function discardingPool(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let isPoisoned = false;
      return {
        async query(text: string, parameters: readonly unknown[]) {
          try {
            return await client.query(text, parameters as unknown[]);
          } catch (error) {
            isPoisoned ||= error instanceof Error && error.message === 'Query read timeout';
            throw error;
          }
        },
        release: () => client.release(isPoisoned),
      } as unknown as PostgresPoolClient;
    },
  };
}
