import {
  Kysely,
  type LogEvent,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  sql,
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
/** For statements that may run in a transaction or by themselves. */
export type Db = Database | Tx;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Whether a statement may take as long as it needs, as a migration or a recount may; a request's may not. */
  isPatient?: boolean;
  /** Whether the server keeps prepared statements for each connection: yes, but behind a pooler that cannot (PgBouncer before 1.21). */
  isPrepared?: boolean;
  /** Gives up writes that hang, of all pools that share it. */
  hungWrites?: HungWrites;
  /** Told of connections that break while idle. Nothing is lost by them: the pool opens new ones. */
  onConnectionError?: (error: Error) => void;
  log?: (event: LogEvent) => void;
  /** As `readLayout` has found it; one node. */
  layout?: Layout;
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
  const gate = fairGate(options.poolSize);
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: fairPool(pool, gate, options) }),
    ...(options.log ? { log: options.log } : {}),
  });
  gates.set(db, gate);
  setLayout(db, options.layout ?? 'one node');
  return db;
}

/** How many callers wait for a connection of this pool. */
export function countWaiting(db: Database): number {
  return gates.get(db)?.countWaiting() ?? 0;
}

const gates = new WeakMap<Database, FairGate>();

/**
 * A tenant holds at most this part of the connections, rounded up: in a pool of four or more the others find one free at any time. Smaller
 * pools are not divided, because a call may need two connections.
 */
const TENANT_SHARE = 0.75;
/** A wait for a connection ends with 503 after this long. */
const LINE_TIMEOUT_MS = 8_000;

/** Callers beyond the pool's size wait in a line for each tenant, served round robin: one tenant's burst delays itself. */
function fairGate(poolSize: number): FairGate {
  return new FairGate({
    limit: poolSize,
    limitOf: (tenant) => (tenant === SERVICE ? poolSize : Math.ceil(poolSize * TENANT_SHARE)),
    maxWaitMs: LINE_TIMEOUT_MS,
    waitedTooLong: () => new UnavailableError('No database connection was free in time.'),
  });
}

/**
 * The pool as Kysely sees it. A client is the same object each time it is lent: Kysely caches what it has made for one, and would
 * cache something new for every statement.
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
  /** Notes whose place at the gate the client's release gives back. */
  lendTo(tenant: string): void;
}

/**
 * Statements are prepared, and a client that met one of two faults is thrown away. A statement that was given up is still under way, so
 * nothing can be asked after it; and once a table has changed, a prepared statement that reads all of its columns fails for as long
 * as the connection lives.
 */
function preparingClient(
  client: pg.PoolClient,
  nameOf: StatementNames,
  gate: FairGate,
  hungWrites: HungWrites | undefined,
): LentClient {
  let borrower = '';
  let isPoisoned = false;
  let givenUpFor: Error | null = null;
  return {
    async query(text: string, values: unknown[]) {
      if (givenUpFor !== null) {
        throw givenUpFor; // Such as to ROLLBACK, which would wait behind the other.
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
          givenUpFor = error;
        }
        isPoisoned ||= givenUpFor !== null || isStalePlan(error);
        if (!isStalePlan(error)) {
          throw error;
        }
        // Within a transaction this fails too, and the whole of it is run again.
        return await client.query({ text, values }).catch(() => {
          throw error;
        });
      }
    },
    lendTo(tenant: string) {
      borrower = tenant;
    },
    release() {
      client.release(isPoisoned);
      gate.leave(borrower);
    },
  } as unknown as LentClient;
}

function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** On each connection; a statement takes some ten kilobytes of the server's memory. */
const MAX_PREPARED = 400;
/** Statements with more are lists of rows, of too many lengths. */
const MAX_PREPARED_PARAMETERS = 64;
/** BEGIN, COMMIT and the like gain nothing. */
const PREPARABLE = /^\s*(?:select|insert|update|delete|with)\b/i;

const PLANNED_ANEW_MARK = '/* planned anew */';
/**
 * Ends a statement that is not prepared, so that PostgreSQL plans it anew each time. The table of events fills and empties: a plan that was
 * kept since it was empty would read all of it, until the next ANALYZE.
 */
export const PLANNED_ANEW = sql.raw(PLANNED_ANEW_MARK);

/** A name, the same on every connection, for a statement that is worth preparing; undefined for others. */
type StatementNames = (text: string, parameterCount: number) => string | undefined;

function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return (text, parameterCount) => {
    let name = names.get(text);
    if (
      name === undefined &&
      names.size < MAX_PREPARED &&
      parameterCount <= MAX_PREPARED_PARAMETERS &&
      PREPARABLE.test(text) &&
      !text.endsWith(PLANNED_ANEW_MARK)
    ) {
      name = `roomservice_${names.size}`;
      names.set(text, name);
    }
    return name;
  };
}
