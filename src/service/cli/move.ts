import { resolve } from 'node:path';
import { listTenants } from '#access/tenants/tenants.ts';
import type { Config } from '#platform/config.ts';
import { databaseName } from '#platform/db/database-name.ts';
import {
  type MoveMarker,
  movedError,
  moveMarkerPath,
  readMoveMarker,
  removeMoveMarker,
  writeMoveMarker,
} from '#platform/db/embedded/move-marker.ts';
import { readTransactionId } from '#platform/db/transaction-outcome.ts';
import { openSource, type TransferSource } from '#platform/db/transfer-source.ts';
import { loadDatabase } from '#platform/db/transfer-target.ts';
import { OperatorError } from '#platform/errors.ts';
import { masterKeyPath } from '#platform/keys/keys.ts';
import { compareCopy } from './copy-check.ts';
import { countNights, sumOfNights } from './count-nights.ts';
import { masterKeyInUse } from './master-key-in-use.ts';
import { tellDatabase } from './faults.ts';
import { explainTargetFault, hasCommitted } from './move-target.ts';
import { migrate } from './restore.ts';
import { openServer } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/** Shortest time in milliseconds between two messages about the progress of one table. */
const PROGRESS_MS = 5_000;

/** The two databases of a move: the embedded database, and the other database into which the data is copied. */
interface Databases {
  config: Config;
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
export async function move(config: Config, to: string, { json }: { json?: boolean }): Promise<void> {
  if (config.databaseUrl !== null) {
    throw new OperatorError(
      'DATABASE_URL is set, so the service does not use the embedded database. Unset DATABASE_URL, and set DATA_DIR to the folder of the embedded database.',
    );
  }
  const options = { role: 'exclusive', mayBeMoved: true, progress: showProgress } as const;
  const server = await openServer(config, options);
  tellDatabase(config);
  try {
    const moved = await moveOnce({ config, from: server.url, to, target: databaseName(to) });
    if (json) {
      const { state: _, transaction: __, ...result } = moved;
      printJson({ ...result, data_dir: resolve(config.dataDir) });
    } else {
      print(describe(config, moved));
    }
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
  if (earlier === null || !(await isFinished(databases, earlier))) {
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
 * Returns true if the transaction of the move in the file `moved-to` was committed. If it was rolled back, removes the file and returns
 * false.
 */
async function isFinished({ config, to, target }: Databases, { transaction }: MoveMarker): Promise<boolean> {
  if (await hasCommitted(to, target, transaction)) {
    return true;
  }
  await removeMoveMarker(config.dataDir);
  return false;
}

/** Copies all rows into the target and commits. If the response to the COMMIT is lost, asks the target how the transaction ended. */
async function load(databases: Databases): Promise<void> {
  const source = await openSource(databases.from);
  try {
    await loadDatabase(databases.to, {
      contents: source.contents,
      open: (table) => readFrom(source, table),
      onTable: (table) => showProgress(`Copying ${table.name}${estimateOf(source, table.name)} …`),
      beforeCommit: async (db, rows) => {
        await compareCopy(source, db);
        const { nights, wrong } = sumOfNights(await countNights(db, await listTenants(db)));
        const [moved_at, transaction] = [new Date().toISOString(), await readTransactionId(db)];
        await writeMoveMarker(databases.config.dataDir, {
          state: 'moving',
          to: databases.target,
          moved_at,
          transaction,
          rows,
          nights,
          wrong_nights: wrong,
        });
        showProgress('Committing …');
      },
    });
  } catch (error) {
    const marker = await readMoveMarker(databases.config.dataDir);
    if (marker === null || !(await isFinished(databases, marker))) {
      throw explainTargetFault(databases.to, error);
    }
  } finally {
    await source.close().catch(() => {});
  }
}

type Table = Parameters<TransferSource['read']>[0];

/**
 * Reads the rows of a table of the embedded database, and shows progress.
 * @throws OperatorError if the embedded database fails. The caller reports all other errors as failures of the target.
 */
async function* readFrom(source: TransferSource, table: Table): AsyncGenerator<Buffer> {
  try {
    let bytes = 0;
    let shownMs = performance.now();
    for await (const chunk of source.read(table)) {
      bytes += chunk.length;
      if (performance.now() > shownMs + PROGRESS_MS) {
        shownMs = performance.now();
        showProgress(`${table.name}: ${(bytes / 1024 ** 2).toFixed(0)} MiB copied`);
      }
      yield chunk;
    }
  } catch (error) {
    throw new OperatorError(
      `The embedded database failed while its table ${table.name} was read (${(error as Error).message}). Run the command again.`,
      { cause: error },
    );
  }
}

function estimateOf({ estimates }: TransferSource, name: string): string {
  const estimate = estimates.get(name) ?? -1;
  return estimate < 0 ? '' : ` (about ${estimate} rows)`;
}

function describe({ dataDir, masterKey }: Config, { to, rows, nights, wrong_nights }: MoveMarker): string {
  const sum = Object.values(rows).reduce((total, count) => total + count, 0);
  const of = (table: string) => rows[table] ?? 0;
  const key = masterKey === null ? `MASTER_KEY_FILE=${masterKeyPath(resolve(dataDir))}` : 'MASTER_KEY as it is set now';
  return [
    `Moved all data to ${to} (rows: ${sum}, tenants: ${of('tenant')}, orders: ${of('restaurant_order')}, reservations: ${of('reservation')}).`,
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
