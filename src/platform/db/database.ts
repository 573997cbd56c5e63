import {
  Kysely,
  type LogEvent,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely';
import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import { currentAccount, SERVICE } from '../lib/account.ts';
import { FairGate } from '../lib/fair-gate.ts';
import { isStalePlan } from './failures.ts';
import type { HungWrites } from './hung-writes.ts';
import { type Layout, setLayout } from './layout.ts';
import type { DB } from './types.ts';

export type Database = Kysely<DB>;
export type Tx = Transaction<DB>;
/** Database or transaction. This type is for functions whose statements may run inside or outside a transaction. */
export type Db = Database | Tx;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** True if statements have no time limit, as for a migration or a recount. False for the statements of requests. */
  hasNoTimeLimit?: boolean;
  /**
   * True (the default) if statements are prepared on each connection. Must be false behind a connection pooler that does not support
   * prepared statements (PgBouncer before 1.21).
   */
  isPrepared?: boolean;
  /** Watcher that abandons the writes that hang. Several pools may share one watcher. */
  hungWrites?: HungWrites;
  /** Called when an idle connection breaks. No data is lost, because the pool opens a new connection. */
  onConnectionError?: (error: Error) => void;
  log?: (event: LogEvent) => void;
  /** Tells if the database is one node or a cluster, as `readLayout` returns it. The default is one node. */
  layout?: Layout;
}

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUTS = {
  /** Time in milliseconds after which the server cancels a statement. */
  statement_timeout: 10_000,
  /** Time in milliseconds after which the client abandons a statement, in case the server no longer responds. */
  query_timeout: 12_000,
  idle_in_transaction_session_timeout: 15_000,
};

/**
 * Parsers of column types. An int8 becomes a number, because our ids and counts stay below 2^53. A date stays text. A numeric stays text
 * too, which is the default of pg.
 */
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

/** Makes a pool. It opens connections only when they are needed, so this function does not wait and does not fail. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: 'roomservice pool',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.hasNoTimeLimit ? {} : REQUEST_TIMEOUTS),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // With this option the server sends dates as ISO text, even if the database or the role has another date style.
    options: '-c datestyle=ISO',
    types,
  });
  const onError = options.onConnectionError ?? (() => {});
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  const gate = fairGate(options.poolSize);
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: fairPool(pool, gate, options) }),
    ...(options.log ? { log: options.log } : {}),
  });
  gates.set(db, gate);
  setLayout(db, options.layout ?? 'one node');
  return db;
}

/** Returns the number of callers that wait for a connection of this pool. */
export function countWaiting(db: Database): number {
  return gates.get(db)?.countWaiting() ?? 0;
}

const gates = new WeakMap<Database, FairGate>();

/**
 * Largest share of the connections that one tenant may hold, rounded up. So a pool of four or more connections always keeps one free for
 * other tenants. In a smaller pool one tenant may hold all connections, because a call may need two connections.
 */
const TENANT_SHARE = 0.75;
/** Longest wait for a connection in milliseconds. After this time the caller gets the response 503. */
const QUEUE_TIMEOUT_MS = 8_000;

/**
 * Makes the gate that limits how many callers use a pool. If no connection is free, callers wait in one queue for each tenant, and the
 * queues are served round robin. So many calls of one tenant delay only that tenant.
 */
function fairGate(poolSize: number): FairGate {
  return new FairGate({
    limit: poolSize,
    limitOf: (tenant) => (tenant === SERVICE ? poolSize : Math.ceil(poolSize * TENANT_SHARE)),
    maxWaitMs: QUEUE_TIMEOUT_MS,
    waitedTooLong: () => new UnavailableError('No database connection was free in time.'),
  });
}

/**
 * Wraps the pool for Kysely. For a client of pg it always returns the same wrapper, because Kysely caches one connection object for each
 * wrapper. With a new wrapper each time, that cache would grow with every statement.
 */
function fairPool(pool: pg.Pool, gate: FairGate, { isPrepared = true, hungWrites }: DatabaseOptions): PostgresPool {
  const nameOf = isPrepared ? createStatementNames() : () => undefined;
  const known = new WeakMap<pg.PoolClient, LentClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const { tenant } = currentAccount();
      const entering = gate.enter(tenant);
      if (entering !== undefined) {
        await entering;
      }
      try {
        const client = await pool.connect();
        let lent = known.get(client);
        if (lent === undefined) {
          lent = preparingClient(client, nameOf, gate, hungWrites);
          known.set(client, lent);
        }
        lent.lendTo(tenant);
        return lent;
      } catch (error) {
        gate.leave(tenant);
        throw error;
      }
    },
  };
}

interface LentClient extends PostgresPoolClient {
  /**
   * Sets the tenant that uses the client until the client is released. The release also frees the place of this tenant at the `FairGate`.
   */
  lendTo(tenant: string): void;
}

/**
 * Wraps a client so that it prepares its statements. The release of the client closes its connection after one of these faults:
 * - The client has abandoned a statement. The server may still run it, so the connection can run no other statement.
 * - A table has changed. A prepared statement that reads all columns of the table then fails until the connection is closed.
 */
function preparingClient(
  client: pg.PoolClient,
  nameOf: StatementNames,
  gate: FairGate,
  hungWrites: HungWrites | undefined,
): LentClient {
  let borrower = '';
  let isUnusable = false;
  let abandonedFor: Error | null = null;
  return {
    async query(text: string, values: unknown[]) {
      if (abandonedFor !== null) {
        throw abandonedFor; // A later statement, for example a ROLLBACK, would wait for the abandoned one.
      }
      const name = nameOf(text, values.length);
      let isSent = false;
      const send = () => {
        isSent = true;
        return client.query(name === undefined ? { text, values } : { name, text, values });
      };
      try {
        return await (hungWrites === undefined ? send() : hungWrites.run(text, send));
      } catch (error) {
        if (isTimeout(error) || (isSent && error instanceof UnavailableError)) {
          abandonedFor = error;
        }
        isUnusable ||= abandonedFor !== null || isStalePlan(error);
        if (!isStalePlan(error)) {
          throw error;
        }
        // The statement is sent again without preparing it. Inside a transaction this second try fails too, and then the whole transaction
        // is run again.
        return await client.query({ text, values }).catch(() => {
          throw error;
        });
      }
    },
    lendTo(tenant: string) {
      borrower = tenant;
    },
    release() {
      client.release(isUnusable);
      gate.leave(borrower);
    },
  } as unknown as LentClient;
}

function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Largest number of prepared statements on each connection. Each takes about ten kilobytes of the server's memory. */
const MAX_PREPARED = 400;
/**
 * Largest number of parameters of a prepared statement. A statement with more parameters contains a list of rows. Its text differs for each
 * number of rows, so a prepared statement would rarely be used again.
 */
const MAX_PREPARED_PARAMETERS = 64;
/** Matches the statements that are worth preparing. BEGIN and COMMIT, for example, would not become faster. */
const PREPARABLE = /^\s*(?:select|insert|update|delete|with)\b/i;

/** Returns the name of a prepared statement, which is the same on all connections. Undefined means that the statement is not prepared. */
type StatementNames = (text: string, parameterCount: number) => string | undefined;

function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return (text, parameterCount) => {
    let name = names.get(text);
    if (
      name === undefined &&
      names.size < MAX_PREPARED &&
      parameterCount <= MAX_PREPARED_PARAMETERS &&
      PREPARABLE.test(text)
    ) {
      name = `roomservice_${names.size}`;
      names.set(text, name);
    }
    return name;
  };
}
