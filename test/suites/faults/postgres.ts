import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries } from '#platform/db/embedded/binaries.ts';
import { NAME, prepareCluster, readOrMakePassword } from '#platform/db/embedded/cluster.ts';
import { databaseUrl } from '#platform/db/embedded/embedded.ts';
import { type Location, locate, prepareSocketDir } from '#platform/db/embedded/location.ts';
import { findPostmaster, launch, stopPostmaster } from '#platform/db/embedded/postmaster.ts';
import { Database } from './database.ts';

/** The suite needs commit times to measure delays. `fsync` stays on, so that committed data survives a crash. */
const SETTINGS = { track_commit_timestamp: 'on', max_connections: '200', max_wal_size: '256MB' };
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** The PostgreSQL server of the suite. No supervisor restarts it, so a fault can keep it stopped as long as necessary. */
export class Postgres extends Database {
  readonly #location: Location;
  readonly #binaries: string;

  constructor(location: Location, password: string, binaries: string) {
    super(databaseUrl({ location, password }));
    this.#location = location;
    this.#binaries = binaries;
  }

  get socketPath(): string {
    return `${this.#location.socketDir}/.s.PGSQL.5432`;
  }

  urlThrough(port: number): string {
    const url = new URL(this.url);
    url.host = `127.0.0.1:${port}`;
    return url.href;
  }

  /** Starts PostgreSQL if it does not run, also after a crash, and waits until it accepts connections. */
  async start(): Promise<void> {
    if (await this.isReady()) {
      return;
    }
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    const begin = async () => await launch(this.#location, { binaries: this.#binaries, settings: SETTINGS });
    for (let launched = await begin(); !(await this.isReady()); await sleep(POLL_MS)) {
      const failure = await launched.failure();
      if (Date.now() > deadlineMs) {
        throw new Error(`PostgreSQL accepts no connections after ${START_TIMEOUT_MS} ms. ${failure ?? ''}`);
      }
      if (failure !== undefined) {
        // Some processes of the crashed server may still run for a moment, and a new server cannot start beside them.
        await sleep(10 * POLL_MS);
        launched = await begin();
      }
    }
  }

  async isReady(): Promise<boolean> {
    return (await this.#find())?.isReady ?? false;
  }

  /** Stops PostgreSQL immediately and without a checkpoint, as a power failure does. */
  async crash(): Promise<void> {
    const postmaster = await this.#find();
    if (postmaster === undefined) {
      return;
    }
    process.kill(postmaster.pid, 'SIGQUIT');
    while ((await this.#find()) !== undefined) {
      await sleep(POLL_MS);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    const postmaster = await this.#find();
    if (postmaster !== undefined) {
      await stopPostmaster(this.#location.clusterDir, postmaster.pid);
    }
  }

  async #find() {
    return await findPostmaster(this.#location.clusterDir);
  }
}

/** Creates an empty database in a folder, and starts PostgreSQL on it. */
export async function startPostgres(folder: string, closers: AsyncDisposableStack): Promise<Postgres> {
  const location = await locate(`${folder}/data`, () => {});
  const password = await readOrMakePassword(location.dataDir);
  const binaries = await findBinaries(location.account, location.dataDir);
  await prepareCluster(location, { binaries, password, sync: true, log: () => {} });
  await prepareSocketDir(location);
  const postgres = new Postgres(location, password, binaries);
  closers.defer(() => postgres.close());
  await postgres.start();
  const server = new Database(databaseUrl({ location, password }, 'postgres'));
  await server.query(`CREATE DATABASE ${NAME}`);
  await server.close();
  return postgres;
}
