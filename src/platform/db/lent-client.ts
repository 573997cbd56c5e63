import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { FairGate } from '../lib/fair-gate.ts';
import { isStalePlan } from './failures.ts';
import type { HungWrites } from './hung-writes.ts';
import type { NodeOutages } from './node-outages.ts';
import { runPipelined } from './pipelined-query.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';
import type { PooledSettings } from './session.ts';

/**
 * Matches the statements that begin a transaction or make its settings. The client does not send such a statement immediately, but together
 * with the next statement, because each message to the server takes 0.3 ms. The results of these statements are not needed.
 */
const DEFERRABLE =
  /^(?:begin|start transaction [a-z ]+|set local [a-z_]+ = \d+|select set_config\([^()]*\)(?:, set_config\([^()]*\))*)$/i;
const BEGIN = /^(?:begin|start transaction)\b/i;
const READ_ONLY = /^start transaction\b.*\bread only$/i;
const END = /^(?:commit|rollback)$/i;
/** Matches the statements that PostgreSQL runs only outside of a transaction. */
const ALONE = /^\s*(?:(?:create|drop)(?: unique)? index concurrently|(?:create|drop) database|vacuum)\b/i;
const NO_RESULT = { command: '', rowCount: 0, rows: [] };

interface ClientOptions {
  prepared: PreparedStatements;
  gate: FairGate;
  hungWrites: HungWrites | undefined;
  nodeOutages: NodeOutages | undefined;
  /** Statements that make the settings of the service, or null if the connection already has these settings. */
  settings: PooledSettings | null;
}

/**
 * Client of a pool that is lent to one caller at a time. It prepares its statements, and sends a BEGIN and settings together with the next
 * statement. If the client has stopped waiting for a statement, `release` closes the connection, because the server may still run the
 * statement.
 */
export class LentClient {
  readonly #client: pg.PoolClient;
  readonly #options: ClientOptions;
  /** Tenant that uses the client until the client is released. */
  #borrower = '';
  #onNodeOf = '';
  #abandonedFor: Error | null = null;
  /** Statements that are sent together with the next statement. If they include a BEGIN, the BEGIN is the first of them. */
  #deferred: string[] = [];
  #isInTransaction = false;

  constructor(client: pg.PoolClient, options: ClientOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * @param tenant tenant that uses the client, or `strangers` for an unauthenticated caller
   * @param onNodeOf tenant whose node gets the statements, if the database is a cluster. It differs from `tenant` if the caller is not
   * authenticated yet, but its call names a tenant. For example, each API key contains the id of a tenant.
   */
  lendTo(tenant: string, onNodeOf: string): void {
    this.#borrower = tenant;
    this.#onNodeOf = onNodeOf;
  }

  /**
   * Returns the client to the pool. Also tells the `FairGate`, which limits the number of clients of each tenant, that the tenant no longer
   * uses this client.
   */
  release(): void {
    this.#client.release(this.#abandonedFor !== null);
    this.#options.gate.leave(this.#borrower);
  }

  async query(text: string, values: unknown[]): Promise<Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>> {
    if (this.#abandonedFor !== null) {
      throw this.#abandonedFor; // A later statement, for example a ROLLBACK, would wait for the abandoned one.
    }
    if (DEFERRABLE.test(text)) {
      this.#deferred.push(text);
      return NO_RESULT;
    }
    if (!END.test(text)) {
      return await this.#send(this.#takeDeferred(), text, values);
    }
    if (this.#deferred.length > 0) {
      this.#deferred = [];
      // No statement of the transaction was sent, not even its BEGIN. So the COMMIT or ROLLBACK is not sent either.
      return { ...NO_RESULT, command: text.toUpperCase() };
    }
    try {
      return await this.#send([], text, values);
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** Returns the deferred statements, which must be sent before the statement of the caller. */
  #takeDeferred(): string[] {
    const earlier = this.#deferred;
    this.#deferred = [];
    this.#isInTransaction ||= BEGIN.test(earlier[0] ?? '');
    return earlier;
  }

  async #send(earlier: string[], text: string, values: unknown[]): Promise<pg.QueryResult> {
    const { prepared, hungWrites, nodeOutages } = this.#options;
    const statement = prepared.find(text, values.length);
    const all = earlier.length === 0 ? text : [...earlier, text].join('; ');
    let isSent = false;
    const send = () => {
      isSent = true;
      return this.#run(earlier, { ...(statement ?? { text }), values });
    };
    try {
      return await (hungWrites === undefined ? send() : hungWrites.run(all, send));
    } catch (error) {
      nodeOutages?.suspect(this.#onNodeOf, error);
      if (isTimeout(error) || (isSent && error instanceof UnavailableError)) {
        this.#abandonedFor = error;
      }
      if (statement === null || !isStalePlan(error)) {
        throw isLostStatement(error) ? lostStatement(error) : error;
      }
      return await this.#sendRenewed(earlier, { text, values }, statement, error);
    }
  }

  /**
   * Sends a statement again, prepared under a new name, because its table has changed since it was prepared. Inside a transaction the
   * second try also fails, because the first failure has aborted the transaction. Then the whole transaction has to run again.
   * @throws the error of the first try if the second try fails
   */
  async #sendRenewed(earlier: string[], query: pg.QueryConfig, stale: PreparedStatement, error: unknown) {
    this.#options.prepared.renew(query.text, stale);
    return await this.#run(earlier, query).catch(() => {
      throw error;
    });
  }

  async #run(earlier: string[], config: pg.QueryConfig): Promise<pg.QueryResult> {
    // PostgreSQL runs all statements of one message in one transaction. So a statement that it refuses in a transaction is sent alone,
    // without the statements in `earlier`. They only make settings, such as time limits.
    const all = !this.#isInTransaction && ALONE.test(config.text) ? [] : this.#withSettings(earlier);
    return all.length === 0 ? await this.#client.query(config) : await runPipelined(this.#client, all, config);
  }

  /** Adds the settings to the statements that are sent first, except inside a transaction, which has made them at its begin. */
  #withSettings(earlier: string[]): string[] {
    const { settings } = this.#options;
    const [first = ''] = earlier;
    const begin = BEGIN.test(first) ? [first] : [];
    if (settings === null || (this.#isInTransaction && begin.length === 0)) {
      return earlier;
    }
    const modes = READ_ONLY.test(first) ? settings.modesOfReads : settings.modes;
    return [...modes, ...begin, settings.others, ...earlier.slice(begin.length)];
  }
}

/** Returns the client as Kysely's type. The `query` of this type also accepts cursors, which the service does not use. */
export function asPoolClient(client: LentClient): PostgresPoolClient {
  return client as unknown as PostgresPoolClient;
}

/**
 * Returns true for an error that says that PostgreSQL does not know a prepared statement, or already has a prepared statement with its
 * name. Both happen if a pooler runs the statements of one client on several connections to the server.
 */
function isLostStatement(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === '26000' || code === '42P05';
}

function lostStatement(cause: unknown): Error {
  const message =
    'A connection pooler lost a prepared statement. Remove DATABASE_PREPARED_STATEMENTS, or set it to false.';
  return new Error(message, { cause });
}

function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}
