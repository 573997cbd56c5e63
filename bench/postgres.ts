import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { findPostmaster } from '#platform/db/embedded/postmaster.ts';
import { makeMasterKey, readMasterKey } from '#platform/keys/keys.ts';
import { tell } from './progress.ts';
import { connect } from './sql.ts';
import { openTemporaryFolder } from './temporary.ts';

/**
 * Data folder of PostgreSQL for runs with `--full` (large amounts of data). The folder and its template databases are kept after the run. A
 * later run of this checkout copies these templates, so it does not have to store the data again.
 */
const KEPT_DATA_DIR = join(
  tmpdir(),
  `roomservice-bench-kept-${process.getuid?.() ?? 0}-${hashOf(import.meta.dirname)}`,
);

/** Name that a template database has while it is being filled. */
const DRAFT = 'bench_draft';

/**
 * Embedded PostgreSQL that holds the databases of this run. It has the settings of the embedded PostgreSQL of the service, and fsync is on.
 */
export interface Postgres {
  /** Process id of the postmaster. All other processes of the server are its children. */
  pid: number;
  masterKey: Buffer;
  /**
   * Makes the template database if it is missing. In this case, first drops the databases with the same `kind` and another `name`, because
   * they are outdated versions of this template.
   */
  ensureTemplate(template: Template): Promise<void>;
  /** Makes a database as a copy of a template, and returns its URL. The database is dropped at the end of the run. */
  clone(template: string, name: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Template {
  /** First part of the name of the template database. All versions of the same template have the same `kind`. */
  kind: string;
  /**
   * Name of the template database: the kind, and a hash. The hash is computed from the amounts of data (`Sizes`) and from the text of the
   * source files that determine the content.
   */
  name: string;
  /**
   * Name of the template that is the start of this template. Its data is copied before `fill` adds more. If left out, this template starts
   * from an empty database.
   */
  base?: string;
  /** Writes the data into the database with the given URL. */
  fill: (url: string) => Promise<void>;
}

/**
 * Starts the embedded PostgreSQL.
 * @param isKept true if the template databases are kept on disk for later runs
 */
export async function openPostgres(isKept: boolean): Promise<Postgres> {
  await using opened = new AsyncDisposableStack();
  const dataDir = isKept ? KEPT_DATA_DIR : opened.use(await openTemporaryFolder()).dataDir;
  const server = opened.adopt(
    await openEmbeddedPostgres({
      dataDir,
      role: 'command',
      // PostgreSQL keeps commit times, because the benchmark of the delivery latency (operations/latency.ts) reads them.
      settings: { track_commit_timestamp: 'on' },
    }),
    (each) => each.close(),
  );
  const admin = opened.adopt(await connect(urlOf(server.url, 'postgres')), (each) => each.end());
  const masterKey = (await readMasterKey(dataDir)) ?? (await makeMasterKey(dataDir));
  const databases = opened.adopt(new Set<string>(), async (names) => {
    for (const name of names) {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
  });
  const create = async (name: string, template: string) => {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    databases.add(name);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return urlOf(server.url, name);
  };
  const postmaster = await findPostmaster(server.clusterDir);
  const closing = opened.move();
  return {
    pid: postmaster?.pid ?? 0,
    masterKey,
    async ensureTemplate({ kind, name, base = 'template0', fill }) {
      const { rows } = await admin.query<{ datname: string }>(
        'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
        [kind],
      );
      if (rows.some(({ datname }) => datname === name)) {
        return;
      }
      for (const { datname } of rows) {
        await admin.query(`DROP DATABASE ${datname} WITH (FORCE)`);
      }
      tell(`filling the template database ${name}`);
      await fill(await create(DRAFT, base));
      // The database gets its final name only after it is filled, so an interrupted run leaves no incomplete template under this name.
      await admin.query(`ALTER DATABASE ${DRAFT} RENAME TO ${name}`);
      databases.delete(DRAFT);
    },
    clone: (template, name) => create(name, template),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
