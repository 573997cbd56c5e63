import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import { isStalePlan } from './failures.ts';

interface ClientOptions {
  names: StatementNames | null;
  /** Text that makes the settings of the service in a transaction that has begun. Null if each connection has them from its start. */
  settings: string | null;
}

/**
 * Begins the text of a statement whose result nobody reads. It is sent like a BEGIN: together with the next statement, so that it takes no
 * round trip, and that one fails with its error.
 */
export const SENT_AHEAD = '/* sent ahead */ ';

/** Returns the pool as Kysely uses it: with prepared statements, and with the settings of the service behind a connection pooler. */
export function poolForKysely(pool: pg.Pool, options: ClientOptions): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, Client>();
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect().catch((error: Error) => {
        throw error.message === 'timeout exceeded when trying to connect'
          ? new UnavailableError('No database connection became free in time. Raise DATABASE_POOL_SIZE.', {
              cause: error,
            })
          : error;
      });
      const own = clients.get(client) ?? new Client(client, options);
      clients.set(client, own);
      return own as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

/** Client of the pool. If it may still wait for a response when its caller releases it, it is closed. */
class Client {
  readonly #client: pg.PoolClient;
  readonly #options: ClientOptions;
  #ahead: Promise<pg.QueryResult>[] = [];
  #isInTransaction = false;
  #isBroken = false;

  constructor(client: pg.PoolClient, options: ClientOptions) {
    this.#client = client;
    this.#options = options;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult | typeof NO_RESULT> {
    const { settings } = this.#options;
    if (/^(?:begin|start transaction)\b/.test(text)) {
      this.#isInTransaction = true;
      const begin = text === 'begin' ? 'begin isolation level read committed' : text;
      return this.#sendAhead(settings === null ? text : `${begin}; ${settings}`);
    }
    if (text.startsWith(SENT_AHEAD)) {
      return this.#sendAhead(text);
    }
    if (text === 'commit' || text === 'rollback') {
      const ended = await this.#send({ text });
      this.#isInTransaction = false;
      return ended;
    }
    if (this.#isInTransaction) {
      return await this.#sendNamed(text, values);
    }
    return settings === null ? await this.#sendAgainIfStale(text, values) : await this.#sendInTransaction(text, values);
  }

  release(isDiscarded?: boolean): void {
    const isUnsure = this.#isBroken || this.#isInTransaction || this.#ahead.length > 0;
    this.#client.release(isUnsure || isDiscarded === true);
  }

  async #sendInTransaction(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    await this.query('begin');
    const result = await this.#sendNamed(text, values).catch(async (error: unknown) => {
      await this.query('rollback').catch(() => (this.#isBroken = true));
      throw error;
    });
    await this.query('commit');
    return result;
  }

  /** Sends a statement a second time if a table has changed since it was prepared. The second time, it is not prepared. */
  async #sendAgainIfStale(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    return await this.#sendNamed(text, values).catch(async (error: unknown) => {
      if (!isStalePlan(error)) {
        throw error;
      }
      return await this.#sendNamed(text, values);
    });
  }

  async #sendNamed(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    const { names } = this.#options;
    const name = names?.nameOf(text, values.length);
    return await this.#send({ text, values: [...values], ...(name ? { name } : {}) }).catch((error: unknown) => {
      if (isStalePlan(error)) {
        names?.giveUp(text);
      }
      throw error;
    });
  }

  #sendAhead(text: string): typeof NO_RESULT {
    const sent = this.#client.query({ text });
    sent.catch(() => {});
    this.#ahead.push(sent);
    return NO_RESULT;
  }

  async #send(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const ahead = this.#ahead;
    this.#ahead = [];
    const sent = this.#client.query(query);
    if (ahead.length > 0) {
      await Promise.allSettled([...ahead, sent]);
      await Promise.all(ahead).catch((error: unknown) => {
        this.#isBroken = true; // If a BEGIN has failed, the statement may have run outside of a transaction.
        throw error;
      });
    }
    return await sent.catch((error: unknown) => {
      // Any other error than the refusal of a statement means that no response came, or that it may still come.
      this.#isBroken ||= !(error instanceof pg.DatabaseError);
      throw error;
    });
  }
}

const NO_RESULT = { command: '', rowCount: 0, rows: [] };

/** Largest number of statements that a pool prepares. Each one takes about 10 kB of the server's memory on each connection. */
const MAX_NAMES = 400;
/** A statement with more parameters has a list of rows, and another text for each number of rows. */
const MAX_PARAMETERS = 64;

/** Names of the prepared statements of a pool, by text. A statement without parameters gets none, because some cannot be prepared. */
export class StatementNames {
  readonly #names = new Map<string, string | undefined>();

  nameOf(text: string, parameterCount: number): string | undefined {
    const isPreparable = parameterCount > 0 && parameterCount <= MAX_PARAMETERS;
    if (isPreparable && !this.#names.has(text) && this.#names.size < MAX_NAMES) {
      this.#names.set(text, `roomservice_${this.#names.size}`);
    }
    return this.#names.get(text);
  }

  giveUp(text: string): void {
    this.#names.set(text, undefined);
  }
}
