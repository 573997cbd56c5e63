import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from '#platform/db/embedded/binaries.ts';
import { NAME, prepareCluster, readOrMakePassword } from '#platform/db/embedded/cluster.ts';
import { type Location, locate, prepareSocketDir } from '#platform/db/embedded/location.ts';
import { findPostmaster, launch, stopPostmaster } from '#platform/db/embedded/postmaster.ts';
import { databaseUrl } from '#platform/db/embedded/embedded.ts';
import type { Database } from './database.ts';

/**
 * Settings that differ from the defaults of PostgreSQL. The suite needs `track_commit_timestamp` to measure delays. `fsync` stays on, as in
 * production, so that committed data survives a crash.
 */
const SETTINGS = { track_commit_timestamp: 'on', max_connections: '200', max_wal_size: '256MB' };
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** The PostgreSQL server of the suite. No supervisor restarts it, so a fault can keep it stopped as long as necessary. */
export class Postgres implements Database {
  readonly #location: Location;
  readonly #password: string;
  readonly #binaries: string;
  #pool: pg.Pool;

  constructor(location: Location, password: string, binaries: string) {
    this.#location = location;
    this.#password = password;
    this.#binaries = binaries;
    this.#pool = this.#openPool();
  }

  /** Connection string through the Unix socket. */
  get url(): string {
    return this.#urlOf(NAME);
  }

  get socketPath(): string {
    return `${this.#location.socketDir}/.s.PGSQL.5432`;
  }

  /** Returns the connection string through a TCP port of this machine. */
  urlThrough(port: number): string {
    const url = new URL(this.url);
    url.host = `127.0.0.1:${port}`;
    return url.href;
  }

  /**
   * Starts PostgreSQL, also after a crash, and waits until it accepts connections.
   * @throws Error if it accepts no connections after 30 s
   */
  async start(): Promise<void> {
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    const begin = async () => await launch(this.#location, { binaries: this.#binaries, settings: SETTINGS });
    for (let launched = await begin(); !(await this.isReady()); await sleep(POLL_MS)) {
      const failure = await launched.failure();
      if (Date.now() > deadlineMs) {
        throw new Error(
          `PostgreSQL did not start within ${START_TIMEOUT_MS} ms: ${failure ?? 'it accepts no connections'}`,
        );
      }
      if (failure !== undefined) {
        // After a crash, some processes of the crashed server may still run for a moment. Until they end, a new server cannot start. So the
        // start is repeated.
        await sleep(10 * POLL_MS);
        launched = await begin();
      }
    }
  }

  async isReady(): Promise<boolean> {
    return (await findPostmaster(this.#location.clusterDir))?.isReady ?? false;
  }

  /** Stops PostgreSQL immediately and without a checkpoint, as a power failure does. */
  async crash(): Promise<void> {
    const postmaster = await findPostmaster(this.#location.clusterDir);
    if (postmaster === undefined) {
      return;
    }
    process.kill(postmaster.pid, 'SIGQUIT');
    while ((await findPostmaster(this.#location.clusterDir)) !== undefined) {
      await sleep(POLL_MS);
    }
  }

  /** Runs a statement. Repeats it up to twice if the connection is lost. */
  async query<Row extends pg.QueryResultRow>(statement: string, values: unknown[] = []): Promise<Row[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.#pool.query<Row>(statement, values)).rows;
      } catch (error) {
        if (tries === 3 || error instanceof pg.DatabaseError) {
          throw error;
        }
        await this.#renewPool();
      }
    }
  }

  async openSession(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async createDatabase(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#urlOf('postgres') });
    await client.connect();
    await client.query(`CREATE DATABASE ${NAME}`);
    await client.end();
  }

  async close(): Promise<void> {
    await this.#pool.end().catch(() => {});
    const postmaster = await findPostmaster(this.#location.clusterDir);
    if (postmaster !== undefined) {
      await stopPostmaster(this.#location.clusterDir, postmaster.pid);
    }
  }

  #urlOf(database: string): string {
    return databaseUrl({ location: this.#location, password: this.#password }, database);
  }

  #openPool(): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.url, max: 3, application_name: 'faults' });
    pool.on('error', () => {});
    return pool;
  }

  async #renewPool(): Promise<void> {
    const old = this.#pool;
    this.#pool = this.#openPool();
    await old.end().catch(() => {});
  }
}

/** Creates an empty PostgreSQL data directory in a folder, and starts PostgreSQL on it. */
export async function startPostgres(folder: string): Promise<Postgres> {
  const location = await locate(`${folder}/data`, () => {});
  const password = await readOrMakePassword(location.dataDir);
  const binaries = await findBinaries(location.account, location.dataDir);
  await prepareCluster(location, { binaries, password, sync: true, log: () => {} });
  await prepareSocketDir(location);
  const postgres = new Postgres(location, password, binaries);
  await postgres.start();
  await postgres.createDatabase();
  return postgres;
}
