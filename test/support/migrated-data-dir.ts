import { execFile } from 'node:child_process';
import { access, appendFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newDataDir, newFolder, succeed } from './command.ts';
import { runFolder } from './run-folder.ts';
import { eventually } from './webhooks.ts';

/**
 * Maximum time in milliseconds for which a test process waits while another process makes the template. The template is the DATA_DIR that
 * `newMigratedDataDir` copies.
 */
const FIRST_START_MS = 60_000;

/**
 * Makes a DATA_DIR with a migrated database and its master key, as `roomservice migrate` leaves it. The DATA_DIR is a copy of a template,
 * because creating a database uses about two seconds of processor time. `cleanUp` removes the copy. A test in which the service itself must
 * create the database needs `newDataDir` instead.
 */
export async function newMigratedDataDir(): Promise<string> {
  const template = await makeTemplate(runFolder() ?? (await newFolder()));
  const dataDir = await newDataDir();
  // `cp -a` keeps the owner of the files, but `fs.cp` does not. If this process is root, PostgreSQL runs as another user, which must own
  // the files.
  await promisify(execFile)('cp', ['-a', template, dataDir]);
  return dataDir;
}

/**
 * Makes the template if it is missing. If several test processes call this at the same time, the first one makes the template and the
 * others wait.
 * @returns the path of the template
 */
async function makeTemplate(folder: string): Promise<string> {
  const template = join(folder, 'migrated');
  const unfinished = join(folder, 'unfinished');
  const isFirst = await mkdir(unfinished).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const dataDir = join(unfinished, 'data');
    await succeed(['migrate'], { env: { DATA_DIR: dataDir } });
    // The tests kill processes but never cut the power, so PostgreSQL need not sync its files to disk.
    await appendFile(join(dataDir, 'postgres/postgresql.conf'), 'fsync = off\nfull_page_writes = off\n');
    await rename(dataDir, template);
  }
  const isThere = () =>
    access(template).then(
      () => true,
      () => false,
    );
  await eventually(isThere, 'template of a DATA_DIR', FIRST_START_MS);
  return template;
}
