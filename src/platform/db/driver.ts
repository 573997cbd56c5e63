import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import { isStalePlan } from './failures.ts';

export interface DriverOptions {
  /** Null if statements are not prepared. */
  names: StatementNames | null;
  /** Returns the text that begins a transaction and makes its settings. */
  begin: (mode: TransactionSettings) => string;
  /** True if each statement outside of a transaction gets one of its own, because `begin` makes the settings that it needs. */
  wrapsStatements: boolean;
  /** Called with the statements that Kysely does not log: the COMMIT of a transaction, and each statement that is sent ahead. */
  onSent: (text: string) => void;
}

/**
 * Driver of Kysely over a pool of pg whose clients send a statement before the responses to earlier ones have arrived (the option
 * `pipeline`). So a BEGIN and the settings of a transaction take no round trip of their own.
 */
export class PipelineDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #options: DriverOptions;
  /** Kysely caches one object for each connection, so a client keeps its connection for all its uses. */
  readonly #connections = new WeakMap<pg.PoolClient, PipelineConnection>();

  constructor(pool: pg.Pool, options: DriverOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PipelineConnection> {
    const client = await this.#pool.connect().catch((error: Error) => {
      throw error.message === 'timeout exceeded when trying to connect' ? noneFree(error) : error;
    });
    const connection = this.#connections.get(client) ?? new PipelineConnection(client, this.#options);
    this.#connections.set(client, connection);
    return connection;
  }

  async beginTransaction(connection: PipelineConnection, mode: TransactionSettings): Promise<void> {
    connection.begin(mode);
  }

  async commitTransaction(connection: PipelineConnection): Promise<void> {
    await connection.commit();
    this.#options.onSent('COMMIT');
  }

  async rollbackTransaction(connection: PipelineConnection): Promise<void> {
    await connection.rollback();
  }

  async releaseConnection(connection: PipelineConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** Client of the pool. If it may still wait for a response when its caller releases it, it is closed. */
export class PipelineConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #options: DriverOptions;
  /** Statements that were sent ahead of the next one. If one of them fails, the next one fails with its error. */
  #ahead: Promise<unknown>[] = [];
  #isInTransaction = false;
  #isBroken = false;

  constructor(client: pg.PoolClient, options: DriverOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Sends a statement ahead of the next one, without waiting for its response. Its result is lost. */
  sendAhead(text: string): void {
    this.#options.onSent(text);
    const sent = this.#query({ text });
    sent.catch(() => {});
    this.#ahead.push(sent);
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const send = () => this.#send<Row>(query);
    if (this.#isInTransaction) {
      return await send();
    }
    return await (this.#options.wrapsStatements ? this.#inOwnTransaction(send) : this.#retryIfStale(send));
  }

  /**
   * Runs statements after one that makes settings until the end of the transaction. Outside of a transaction, the statements get one of
   * their own. All messages are sent at once. If a statement fails, throws the error of the first one that failed.
   */
  async executeWith<Row>(settings: string, queries: CompiledQuery[]): Promise<QueryResult<Row>[]> {
    const execute = async () => {
      this.sendAhead(settings);
      const sent = queries.map((query) => this.executeQuery<Row>(query)); // Kysely logs the calls of this method.
      await Promise.allSettled(sent);
      const results: QueryResult<Row>[] = [];
      for (const result of sent) {
        results.push(await result);
      }
      return results;
    };
    return this.#isInTransaction ? await execute() : await this.#inOwnTransaction(execute);
  }

  async #inOwnTransaction<T>(send: () => Promise<T>): Promise<T> {
    return await this.#retryIfStale(async () => {
      this.begin({});
      const sent = send();
      const committed = this.commit();
      await Promise.allSettled([sent, committed]);
      const result = await sent; // If the statement failed, its error comes first.
      await committed;
      return result;
    });
  }

  streamQuery(): never {
    throw new Error('This driver streams no results.');
  }

  begin(mode: TransactionSettings): void {
    this.sendAhead(this.#options.begin(mode));
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    const response = this.#respond({ text: 'COMMIT' });
    this.#isInTransaction = false;
    if ((await response).command === 'ROLLBACK') {
      throw new AbortedTransactionError();
    }
  }

  /** If the connection is broken or breaks now, PostgreSQL undoes the transaction when the connection ends. */
  async rollback(): Promise<void> {
    if (!this.#isBroken) {
      await this.#respond({ text: 'ROLLBACK' }).catch(() => (this.#isBroken = true));
    }
    this.#isInTransaction = false;
  }

  release(): void {
    this.#client.release(this.#isBroken || this.#isInTransaction || this.#ahead.length > 0);
  }

  async #send<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = this.#options.names?.nameOf(sql, parameters.length);
    try {
      return toResult(await this.#respond({ text: sql, values: [...parameters], ...(name ? { name } : {}) }));
    } catch (error) {
      if (isStalePlan(error)) {
        this.#options.names?.giveUp(sql);
      }
      throw error;
    }
  }

  /** Runs work a second time if a table has changed since its statement was prepared. The second time, the statement is not prepared. */
  async #retryIfStale<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isStalePlan(error)) {
        throw error;
      }
      return await work();
    }
  }

  /**
   * Sends a statement, and waits for its response and for the responses to the statements ahead of it. If a statement ahead has failed, for
   * example a BEGIN, it is unknown if the statement ran in a transaction, so the connection is closed at its release.
   */
  async #respond(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const ahead = this.#ahead;
    this.#ahead = [];
    const sent = this.#query(query);
    if (ahead.length > 0) {
      await Promise.allSettled([...ahead, sent]);
      await Promise.all(ahead).catch((error: unknown) => {
        this.#isBroken = true;
        throw error;
      });
    }
    return await sent;
  }

  async #query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    return await this.#client.query(query).catch((error: unknown) => {
      // Any other error than the refusal of a statement means that no response came, or that it may still come.
      this.#isBroken ||= !(error instanceof pg.DatabaseError);
      throw error;
    });
  }
}

function toResult<Row>({ command, rowCount, rows }: pg.QueryResult): QueryResult<Row> {
  const changesRows = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
  return { rows: rows ?? [], ...(changesRows ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
}

function noneFree(cause: Error): UnavailableError {
  const message = 'No database connection became free in time. Try again, or raise DATABASE_POOL_SIZE.';
  return new UnavailableError(message, { cause });
}

/** Largest number of statements that a pool prepares. Each one takes about 10 kB of the server's memory on each connection. */
const MAX_NAMES = 400;
/** A statement with more parameters has a list of rows, and another text for each number of rows. */
const MAX_PARAMETERS = 64;

/** Names of the prepared statements of a pool, by text. A statement without parameters gets none, because some cannot be prepared. */
export class StatementNames {
  /** Name of each text, or undefined if the text must not be prepared again. */
  readonly #names = new Map<string, string | undefined>();

  nameOf(text: string, parameterCount: number): string | undefined {
    const isPreparable = parameterCount > 0 && parameterCount <= MAX_PARAMETERS;
    if (isPreparable && !this.#names.has(text) && this.#names.size < MAX_NAMES) {
      this.#names.set(text, `roomservice_${this.#names.size}`);
    }
    return this.#names.get(text);
  }

  /** Stops to prepare a statement. A new name would not do, because a pooler finds prepared statements by their text. */
  giveUp(text: string): void {
    this.#names.set(text, undefined);
  }
}
