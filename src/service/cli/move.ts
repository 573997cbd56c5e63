import { resolve } from 'node:path';
import type { Config } from '#platform/config.ts';
import { refuseNewer } from '#platform/copy/contents.ts';
import { copyDatabase, countsOf, describeRows } from '#platform/copy/copy.ts';
import { emptyDatabase, migrate, NotEmptyError, openDatabaseSource } from '#platform/copy/database-copy.ts';
import { movedError, moveMarkerPath, readMoveMarker, writeMoveMarker } from '#platform/db/embedded/move-marker.ts';
import { explainFault, nameDatabase } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { masterKeyPath } from '#platform/keys/keys.ts';
import { masterKeyInUse } from './keys.ts';
import { countNights } from './maintenance.ts';
import { type Context, withServer } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

interface Moved {
  /** Host, port and name of the database to which the data was moved. */
  to: string;
  moved_at: string;
  rows: Record<string, number>;
  nights: number;
  /** Number of nights whose counter did not match the reservations, as before the move. */
  wrong_nights: number;
}

/**
 * Runs `roomservice move --to URL`. The old data stays in DATA_DIR. But other commands refuse to use the old data, because `move` writes
 * the file `moved-to` into DATA_DIR before its COMMIT.
 */
export async function move(context: Context, to: string, options: OutputOptions): Promise<void> {
  const { config, terminal } = context;
  if (config.databaseUrl !== null) {
    throw new OperatorError(
      'DATABASE_URL is set, so the service does not use the embedded database. Unset DATABASE_URL, and set DATA_DIR to the folder of the embedded database.',
    );
  }
  const { dataDir } = config;
  await withServer(context, { role: 'exclusive', mayBeMoved: true }, async (url) => {
    const earlier = await readMoveMarker(dataDir);
    if (earlier !== null && earlier.to !== nameDatabase(to, '--to').name) {
      throw movedError(dataDir, earlier);
    }
    await masterKeyInUse(config, url); // Without the key, no credential would work after the move.
    await migrate(url);
    const moved = await load(context, url, to).catch((error: unknown) => {
      // The target has rows already, because an earlier move to it was committed.
      throw earlier !== null && error instanceof NotEmptyError ? movedError(dataDir, earlier) : error;
    });
    terminal.printResult(options, { ...moved, data_dir: resolve(dataDir) }, describe(config, moved));
  });
}

/** Copies all rows into the target. Writes the file `moved-to` before the COMMIT, because the result of the COMMIT may get lost. */
async function load({ config, terminal }: Context, from: string, to: string): Promise<Moved> {
  const named = nameDatabase(to, '--to');
  const source = await openDatabaseSource(from);
  let moved: Moved | null = null;
  const target = emptyDatabase(to, async (db, digests) => {
    const { nights, wrong } = await countNights(db, terminal.showProgress);
    const movedAt = new Date().toISOString();
    await writeMoveMarker(config.dataDir, { to: named.name, movedAt });
    moved = { to: named.name, moved_at: movedAt, rows: countsOf(digests), nights, wrong_nights: wrong.length };
    terminal.showProgress('Committing …');
  });
  try {
    await refuseNewer(source.newer);
    await copyDatabase(source, target, terminal.showProgress);
    return moved as unknown as Moved;
  } catch (error) {
    const fault = explainFault(error, named);
    if (!(fault instanceof OperatorError) || fault === error) {
      throw fault;
    }
    const outcome =
      moved === null ? 'Nothing was moved.' : 'It is unknown if the move was committed. Run the command again.';
    throw new OperatorError(`${fault.message} ${outcome}`, { cause: error });
  } finally {
    await source.close().catch(() => {});
  }
}

function describe({ dataDir, masterKey }: Config, { to, rows, nights, wrong_nights }: Moved): string {
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
