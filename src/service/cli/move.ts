import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { listTenants } from '#access/tenants/tenants.ts';
import type { Config } from '#platform/config.ts';
import { refuseNewer, type TableShape } from '#platform/copy/contents.ts';
import { copyDatabase, countsOf, describeRows } from '#platform/copy/copy.ts';
import { type DatabaseSource, openDatabaseSource } from '#platform/copy/database-source.ts';
import { emptyDatabase, migrate } from '#platform/copy/database-target.ts';
import { withDatabase } from '#platform/db/database.ts';
import {
  type MoveMarker,
  movedError,
  moveMarkerPath,
  readMoveMarker,
  removeMoveMarker,
  writeMoveMarker,
} from '#platform/db/embedded/move-marker.ts';
import { databaseName, explainFault, nameDatabase } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { masterKeyPath, readSettledKeys } from '#platform/keys/keys.ts';
import { masterKeyInUse } from './keys.ts';
import { countNights, sumOfNights } from './maintenance.ts';
import { type Context, openServer, tellDatabase } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

/** Longest time in milliseconds to wait until the server has ended the transaction of an interrupted move. */
const END_WAIT_MS = 10_000;

/** The two databases of a move: the embedded database, and the other database into which the data is copied. */
interface Databases extends Context {
  /** URL of the embedded database. It contains a password. */
  from: string;
  /** URL of the other database. It may contain a password. */
  to: string;
  /** Host, port and name of the database in `to`. Messages show this text, because the URL may contain a password. */
  target: string;
}

/**
 * Runs `roomservice move --to URL`. Copies all rows of the embedded database into an empty database, in one transaction. The old data stays
 * in DATA_DIR. But other commands refuse to use the old data, because `move` writes the file `moved-to` into DATA_DIR. If `move` fails or
 * is killed, the operator may run it again.
 */
export async function move(context: Context, to: string, options: OutputOptions): Promise<void> {
  const { config, terminal } = context;
  if (config.databaseUrl !== null) {
    throw new OperatorError(
      'DATABASE_URL is set, so the service does not use the embedded database. Unset DATABASE_URL, and set DATA_DIR to the folder of the embedded database.',
    );
  }
  const server = await openServer(context, { role: 'exclusive', mayBeMoved: true });
  tellDatabase(config, terminal.notify);
  try {
    const moved = await moveOnce({ ...context, from: server.url, to, target: databaseName(to) });
    const { state: _, ...result } = moved;
    terminal.printResult(options, { ...result, data_dir: resolve(config.dataDir) }, describe(config, moved));
  } finally {
    await server.close();
  }
}

/**
 * Moves the data. An earlier call of the command may have moved the data, and may have been killed before it could report the success. Then
 * the data is not moved again.
 * @returns the new content of the file `moved-to`
 */
async function moveOnce(databases: Databases): Promise<MoveMarker> {
  const { dataDir } = databases.config;
  const earlier = await readMoveMarker(dataDir);
  if (earlier !== null && (earlier.state === 'moved' || earlier.to !== databases.target)) {
    throw new OperatorError(movedError(dataDir, earlier).message);
  }
  if (earlier === null || !(await isFinished(databases))) {
    // Refuses the move if the master key does not decrypt the keys of the database. After such a move, no credential would work.
    await masterKeyInUse(databases.config, databases.from);
    await migrate(databases.from);
    await load(databases);
  }
  const marker = await readMoveMarker(dataDir);
  if (marker === null) {
    throw new OperatorError(
      `${moveMarkerPath(dataDir)} was removed during the move. The database ${databases.target} has all data. Set DATABASE_URL to it.`,
    );
  }
  const moved: MoveMarker = { ...marker, state: 'moved' };
  await writeMoveMarker(dataDir, moved);
  return moved;
}

/**
 * Copies all rows into the target. Before the COMMIT, writes the file `moved-to`, so that no process uses the old data if the result of the
 * COMMIT gets lost.
 */
async function load(databases: Databases): Promise<void> {
  const source = await openDatabaseSource(databases.from);
  const { config, terminal } = databases;
  const { dataDir } = config;
  try {
    await refuseNewer(source.newer);
    await copyDatabase(
      { ...source, read: (table) => readFrom(source, table) },
      emptyDatabase(databases.to, async (db, digests) => {
        const { nights, wrong } = sumOfNights(await countNights(db, await listTenants(db), terminal.showProgress));
        const [moved_at, rows] = [new Date().toISOString(), countsOf(digests)];
        const { target: to } = databases;
        await writeMoveMarker(dataDir, { state: 'moving', to, moved_at, rows, nights, wrong_nights: wrong });
        terminal.showProgress('Committing …');
      }),
      terminal.showProgress,
    );
  } catch (error) {
    if ((await readMoveMarker(dataDir)) === null || !(await isFinished(databases))) {
      throw explainFailure(databases.to, error);
    }
  } finally {
    await source.close().catch(() => {});
  }
}

/** @throws OperatorError if the embedded database fails, because the caller reports all other errors as failures of the target */
async function* readFrom(source: DatabaseSource, table: TableShape): AsyncGenerator<Buffer> {
  try {
    yield* source.read(table);
  } catch (error) {
    throw new OperatorError(
      `The embedded database failed while its table ${table.name} was read (${(error as Error).message}). Run the command again.`,
      { cause: error },
    );
  }
}

/**
 * Returns true if the move in the file `moved-to` was committed. If it was rolled back, removes the file and returns false. A move copies the
 * wrapped service keys in the same transaction as all other rows, and no other installation has the same keys.
 */
async function isFinished({ config, from, to, target }: Databases): Promise<boolean> {
  const keys = await readKeys(from);
  const copied = await readKeys(to).catch((error: unknown) => {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The move was interrupted during its commit, and the database ${target} cannot be read (${message || code}). ` +
        'So it is unknown if that database has the data. Run the command again when the database can be read.',
      { cause: error },
    );
  });
  if (keys.length > 0 && isDeepStrictEqual(keys, copied)) {
    return true;
  }
  await removeMoveMarker(config.dataDir);
  return false;
}

async function readKeys(url: string) {
  return await withDatabase({ url, poolSize: 1 }, (db) => readSettledKeys(db, END_WAIT_MS));
}

/** Explains a failure of the target, as `explainFault` does, and says that the old data is still in use. */
function explainFailure(to: string, error: unknown): unknown {
  const fault = explainFault(error, nameDatabase(to, '--to'));
  return fault instanceof OperatorError && fault !== error
    ? new OperatorError(`${fault.message} Nothing was moved.`, { cause: error })
    : fault;
}

function describe({ dataDir, masterKey }: Config, { to, rows, nights, wrong_nights }: MoveMarker): string {
  const key = masterKey === null ? `MASTER_KEY_FILE=${masterKeyPath(resolve(dataDir))}` : 'MASTER_KEY as it is set now';
  return [
    `Moved all data to ${to} (${describeRows(rows)}).`,
    `Each row was compared with the old data. The night counters were compared with the reservations again: ${nights} nights, ${wrong_nights} of them differ${wrong_nights === 0 ? '' : ', as before the move. "roomservice nights verify" lists them'}.`,
    '',
    'Start every process with these settings from now on:',
    '  DATABASE_URL, with the URL that you gave to --to',
    `  ${key}`,
    '',
    `The old data stays in ${resolve(dataDir)}, and no command uses it while ${moveMarkerPath(dataDir)} exists.`,
    'If you remove the old data, keep the master key. Without the master key, no credential works.',
  ].join('\n');
}
