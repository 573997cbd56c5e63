import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { makeMasterKey, readMasterKey } from '#platform/keys/master-key.ts';
import { tell } from './progress.ts';
import { connect } from './sql.ts';
import { openTemporaryFolder } from './temporary.ts';

/** Where the seeds of `--full` are kept from one run of this checkout to the next. */
const KEPT_DATA_DIR = join(
  tmpdir(),
  `roomservice-bench-kept-${process.getuid?.() ?? 0}-${hashOf(import.meta.dirname)}`,
);

const DRAFT = 'bench_draft';

/** The embedded PostgreSQL as the service itself would run it (fsync on), with the databases of this run. */
export interface Postgres {
  masterKey: Buffer;
  /** Makes the template where it is missing, and drops what stood for an older one of its kind. */
  ensureTemplate(template: Template): Promise<void>;
  /** A database of this run's own. @returns its URL */
  clone(template: string, name: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Template {
  /** Begins with its kind; the rest says what it is made of. */
  kind: string;
  name: string;
  /** The template it starts from; an empty database where left out. */
  base?: string;
  fill: (url: string) => Promise<void>;
}

/** @param isKept whether templates outlive the run */
export async function openPostgres(isKept: boolean): Promise<Postgres> {
  await using opened = new AsyncDisposableStack();
  const dataDir = isKept ? KEPT_DATA_DIR : opened.use(await openTemporaryFolder()).dataDir;
  const server = opened.adopt(
    await openEmbeddedPostgres({
      dataDir,
      role: 'command',
      // The moment of each commit is read from it (operations/latency.ts).
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
  const closing = opened.move();
  return {
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
      tell(`seeding ${name}`);
      await fill(await create(DRAFT, base));
      // Only what is whole gets the name.
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
