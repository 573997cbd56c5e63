import { execFile } from 'node:child_process';
import { access, appendFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newDataDir, newFolder, succeed } from './command.ts';
import { runFolder } from './run-folder.ts';
import { eventually } from './webhooks.ts';

/** Longest wait while another process makes the template. */
const FIRST_START_MS = 60_000;

/** Makes a DATA_DIR as `roomservice migrate` leaves it: a copy of a template, because creating one takes two seconds of CPU time. */
export async function newMigratedDataDir(): Promise<string> {
  const template = await makeTemplate(runFolder() ?? (await newFolder()));
  const dataDir = await newDataDir();
  // `cp -a` keeps the owner of the files, but `fs.cp` does not. If this process is root, PostgreSQL runs as another user, which must own
  // the files.
  await promisify(execFile)('cp', ['-a', template, dataDir]);
  return dataDir;
}

/** Makes the template if it is missing. Of several processes, the first one makes it, and the others wait. */
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
