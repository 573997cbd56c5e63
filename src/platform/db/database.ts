/** The database: its pool, its settings, and whether it is one node or a cluster. */
import {
  type ColumnType,
  Kysely,
  type LogEvent,
  PostgresAdapter,
  PostgresDialect,
  sql,
  type Transaction,
} from 'kysely';
import pg from 'pg';
import { hasPooler } from '../lib/postgres-url.ts';
import { poolForKysely, StatementNames } from './driver.ts';
import { clientConfig, localSettings } from './session.ts';
import type { TABLES } from './tables.ts';

/** TypeScript type of the values of each PostgreSQL type, as the parsers below return them. A `numeric` (money) would be rounded as a number. */
interface Values {
  bool: boolean;
  bytea: Buffer;
  date: string;
  int2: number;
  int4: number;
  int8: number;
  json: unknown;
  /** Written as JSON text, because pg would turn an array into an SQL array. */
  jsonb: ColumnType<unknown, string, string>;
  numeric: string;
  text: string;
  'text[]': string[];
  timestamptz: ColumnType<Date, Date | string, Date | string>;
  uuid: string;
  xid8: string;
}

type Optional<T> =
  T extends ColumnType<infer S, infer I, infer U> ? ColumnType<S, I | undefined, U> : ColumnType<T, T | undefined, T>;

type Column<Type> = Type extends `${infer Name extends keyof Values}?`
  ? Values[Name] | null
  : Type extends `${infer Name extends keyof Values}=`
    ? Optional<Values[Name]>
    : Values[Type & keyof Values];

type Tables = {
  [Table in keyof typeof TABLES]: {
    -readonly [Name in keyof (typeof TABLES)[Table]]: Column<(typeof TABLES)[Table][Name]>;
  };
};
/** The tables with the types of their columns. */
export interface DB extends Tables {}

export type Database = Kysely<DB>;
export type Tx = Transaction<DB>;
export type Db = Database | Tx;

/** Place of the rows: one node, or a cluster (Citus), where a statement may touch only one tenant (database rules 4 and 8). */
export type Layout = 'one node' | 'cluster';

export async function readLayout<T>(db: Kysely<T>): Promise<Layout> {
  const { rows } = await sql`SELECT FROM pg_extension WHERE extname = 'citus'`.execute(db);
  return rows.length > 0 ? 'cluster' : 'one node';
}

/** Marks a database that is on a cluster. Kysely passes the adapter of a database on to its transactions. */
class ClusterAdapter extends PostgresAdapter {}

export function isCluster(db: Pick<Database, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof ClusterAdapter;
}

interface DatabaseOptions {
  url: string;
  poolSize: number;
  hasNoTimeLimit?: boolean;
  isPrepared?: boolean;
  onConnectionError?: (error: Error) => void;
  log?: (event: LogEvent) => void;
  layout?: Layout;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** For a server that no longer responds, and for a COMMIT that waits for a lost standby. The connection is closed then. */
const QUERY_TIMEOUT_MS = 12_000;

/** Parsers of column values. An int8 becomes a number, because the ids and counts of the service stay below 2^53. A date stays text. */
export const types = {
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

/** Makes a pool. It opens connections only when they are needed, so this function does not wait and does not fail. */
export function createDatabase(options: DatabaseOptions): Database {
  const { url, log } = options;
  const pool = new pg.Pool({
    ...clientConfig(url, options),
    max: options.poolSize,
    application_name: 'roomservice pool',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.hasNoTimeLimit ? {} : { query_timeout: QUERY_TIMEOUT_MS }),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    pipeline: true,
    types,
  });
  const onError = options.onConnectionError ?? (() => {});
  pool.on('error', onError);
  pool.on('connect', (client) => void client.on('error', onError));
  const isPooled = hasPooler(url);
  const clients = poolForKysely(pool, {
    names: options.isPrepared !== false && !isPooled ? new StatementNames() : null,
    settings: isPooled ? localSettings(options) : null,
  });
  const dialect = new PostgresDialect({ pool: clients });
  const db = new Kysely<DB>({
    dialect: {
      createAdapter: () => (options.layout === 'cluster' ? new ClusterAdapter() : new PostgresAdapter()),
      createDriver: () => dialect.createDriver(),
      createIntrospector: (each) => dialect.createIntrospector(each),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
    ...(log ? { log } : {}),
  });
  pools.set(db, pool);
  return db;
}

/** Makes a pool for the work of a command. By default, the statements have no time limit and are not prepared. */
export function openDatabase(options: DatabaseOptions): Database {
  return createDatabase({ hasNoTimeLimit: true, isPrepared: false, ...options });
}

export async function withDatabase<T>(options: DatabaseOptions, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(options);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

export function countWaiting(db: Database): number {
  return pools.get(db)?.waitingCount ?? 0;
}

const pools = new WeakMap<Database, pg.Pool>();
