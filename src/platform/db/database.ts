import { Kysely, type LogEvent, PostgresDialect, type PostgresPool, type Transaction } from 'kysely';
import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import { currentAccount, SERVICE } from '../lib/account.ts';
import { FairGate } from '../lib/fair-gate.ts';
import type { HungWrites } from './hung-writes.ts';
import { type Layout, setLayout } from './layout.ts';
import { asPoolClient, LentClient } from './lent-client.ts';
import type { NodeOutages } from './node-outages.ts';
import { readPooling } from './pooling.ts';
import { createPreparedStatements, NO_PREPARED_STATEMENTS } from './prepared-statements.ts';
import { clientConfig, DIRECT, type PooledSettings, pooledSettings, type Pooling } from './session.ts';
import type { DB } from './types.ts';

export type Database = Kysely<DB>;
export type Tx = Transaction<DB>;
/** Database or transaction. This type is for functions whose statements may run inside or outside a transaction. */
export type Db = Database | Tx;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Name that the server shows for the connections of this pool (`application_name`). Default: `roomservice pool`. */
  applicationName?: string;
  /**
   * True if statements have no time limit, for example in a migration or in the restore of a backup. False for the statements of requests.
   */
  hasNoTimeLimit?: boolean;
  /**
   * True (the default) if statements are prepared on each connection. Must be false behind a pooler that does not support prepared
   * statements.
   */
  isPrepared?: boolean;
  /** What the URL leads to, as `readPooling` returns it. The default is PostgreSQL itself, in the oldest version that the service supports. */
  pooling?: Pooling;
  /** Watcher that abandons the writes that hang. Several pools may share one watcher. */
  hungWrites?: HungWrites;
  /**
   * Watcher of the cluster nodes that are down. Statements of the tenants on such a node fail immediately. Several pools may share one
   * watcher.
   */
  nodeOutages?: NodeOutages;
  /**
   * Called when an idle connection breaks. No data is lost, because an idle connection runs no statement. The pool opens a new connection
   * when a caller needs one.
   */
  onConnectionError?: (error: Error) => void;
  log?: (event: LogEvent) => void;
  /** Layout of the database: one node or a cluster, as `readLayout` returns it. The default is one node. */
  layout?: Layout;
}

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Time in milliseconds after which the client stops waiting for a statement. The server ends a statement earlier, so this limit is only for
 * a server that no longer responds.
 */
const QUERY_TIMEOUT_MS = 12_000;

/**
 * Parsers that convert column values from PostgreSQL. An int8 becomes a number, because the ids and counts of the service stay below 2^53.
 * A date stays text. A numeric stays text too, which is the default of pg.
 */
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
  const { pooling = DIRECT } = options;
  const pool = new pg.Pool({
    ...clientConfig(options.url, pooling, options),
    max: options.poolSize,
    application_name: options.applicationName ?? 'roomservice pool',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.hasNoTimeLimit ? {} : { query_timeout: QUERY_TIMEOUT_MS }),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types,
  });
  const onError = options.onConnectionError ?? (() => {});
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  const gate = fairGate(options.poolSize);
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: fairPool(pool, gate, options, pooling.isPooled ? pooledSettings(pooling, options) : null),
    }),
    ...(options.log ? { log: options.log } : {}),
  });
  gates.set(db, gate);
  if (pooling.isPooled) {
    pooled.add(db);
  }
  setLayout(db, options.layout ?? 'one node');
  return db;
}

/**
 * Makes a pool for the work of a command, after it has found out what the URL leads to. By default, the statements have no time limit and
 * are not prepared.
 * @throws an error of pg if the database is out of reach
 */
export async function openDatabase(options: Omit<DatabaseOptions, 'pooling'>): Promise<Database> {
  const pooling = await readPooling(options.url);
  return createDatabase({ hasNoTimeLimit: true, isPrepared: false, ...options, pooling });
}

/** Returns the number of callers that wait for a connection of this pool. */
export function countWaiting(db: Database): number {
  return gates.get(db)?.countWaiting() ?? 0;
}

/** Returns true if a connection pooler is between this process and PostgreSQL. */
export function isPooled(db: object): boolean {
  return pooled.has(db);
}

const pooled = new WeakSet<object>();
const gates = new WeakMap<Database, FairGate>();

/**
 * Largest share of the connections that one tenant may hold. A pool of four or more connections always keeps one free for other tenants.
 * The share is rounded up, so that one tenant may hold both connections of a pool of two, because a call may need two connections.
 */
const TENANT_SHARE = 0.75;
/** Longest wait for a connection in milliseconds. After this time the caller gets the response 503. */
const QUEUE_TIMEOUT_MS = 8_000;

/**
 * Makes the gate that limits how many callers use a pool. If no connection is free, callers wait in one queue for each tenant, and the
 * queues are served round robin. If one tenant makes many calls, these calls therefore delay only this tenant.
 */
function fairGate(poolSize: number): FairGate {
  return new FairGate({
    limit: poolSize,
    limitOf: (tenant) => (tenant === SERVICE ? poolSize : Math.ceil(poolSize * TENANT_SHARE)),
    maxWaitMs: QUEUE_TIMEOUT_MS,
    waitedTooLong: () =>
      new UnavailableError('No database connection became free in time. Try again, or raise DATABASE_POOL_SIZE.'),
  });
}

/**
 * Makes a pool for Kysely from the pool of pg. The new pool lends each client of pg in a wrapper (`LentClient`). A client gets its wrapper
 * at its first use, and keeps the wrapper for all later uses. The reason is that Kysely caches one connection object for each wrapper. If
 * each use of a client made a new wrapper, this cache would grow with every use.
 */
function fairPool(
  pool: pg.Pool,
  gate: FairGate,
  { isPrepared = true, hungWrites, nodeOutages }: DatabaseOptions,
  settings: PooledSettings | null,
): PostgresPool {
  const prepared = isPrepared ? createPreparedStatements() : NO_PREPARED_STATEMENTS;
  const known = new WeakMap<pg.PoolClient, LentClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const { tenant, namedTenant = tenant } = currentAccount();
      const admitting = nodeOutages?.admit(namedTenant);
      if (admitting !== undefined) {
        await admitting;
      }
      const entering = gate.enter(tenant);
      if (entering !== undefined) {
        await entering;
      }
      try {
        const client = await pool.connect();
        let lent = known.get(client);
        if (lent === undefined) {
          lent = new LentClient(client, { prepared, gate, hungWrites, nodeOutages, settings });
          known.set(client, lent);
        }
        lent.lendTo(tenant, namedTenant);
        return asPoolClient(lent);
      } catch (error) {
        gate.leave(tenant);
        throw error;
      }
    },
  };
}
