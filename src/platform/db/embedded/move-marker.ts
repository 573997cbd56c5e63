import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { syncFolder } from '../../lib/new-file.ts';
import { EmbeddedPostgresError, ifAbsent } from './failure.ts';

const FILE = 'moved-to';

/** Content of the file `moved-to` in DATA_DIR, which names the database to which the data of the embedded database was moved. */
export interface MoveMarker {
  /** `moving` means that the commit of the move has begun, and its result is not known. */
  state: 'moving' | 'moved';
  /** Host, port and name of the other database, for example `db.example:5432/roomservice`. */
  to: string;
  /** Time of the move (ISO 8601). */
  moved_at: string;
  /** Number of rows that were moved, for each table. */
  rows: Record<string, number>;
  /** Number of nights whose counters were compared with the reservations. */
  nights: number;
  /** Number of nights whose counter did not match the reservations, as before the move. */
  wrong_nights: number;
}

export function moveMarkerPath(dataDir: string): string {
  return join(resolve(dataDir), FILE);
}

/** Returns null if the data was never moved. @throws EmbeddedPostgresError if the file is damaged */
export async function readMoveMarker(dataDir: string): Promise<MoveMarker | null> {
  const path = moveMarkerPath(dataDir);
  const text = await readFile(path, 'utf8').catch(ifAbsent);
  if (text === undefined) {
    return null;
  }
  try {
    return JSON.parse(text) as MoveMarker;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${path} is damaged. The data in this folder was probably moved to another database. ` +
        'Set DATABASE_URL to that database, or remove the file to use the data in this folder.',
      { cause: error },
    );
  }
}

/** Writes the marker so that it survives a loss of power. A file with the name of the marker is never incomplete. */
export async function writeMoveMarker(dataDir: string, marker: MoveMarker): Promise<void> {
  const path = moveMarkerPath(dataDir);
  const draft = `${path}.draft`;
  await writeFile(draft, `${JSON.stringify(marker, null, 2)}\n`, { mode: 0o644, flush: true });
  await rename(draft, path);
  await syncFolder(resolve(dataDir));
}

export async function removeMoveMarker(dataDir: string): Promise<void> {
  await rm(moveMarkerPath(dataDir), { force: true });
}

/**
 * Refuses the data in DATA_DIR if another database has it, or may have it after an interrupted move. The other database would never get
 * the changes that are written here.
 * @throws EmbeddedPostgresError
 */
export async function refuseMoved(dataDir: string): Promise<void> {
  const marker = await readMoveMarker(dataDir);
  if (marker !== null) {
    throw movedError(dataDir, marker);
  }
}

/** Creates the error that says where the data is now, how to use it there, and how to use the data in DATA_DIR again. */
export function movedError(dataDir: string, { state, to, moved_at }: MoveMarker): EmbeddedPostgresError {
  const path = moveMarkerPath(dataDir);
  return new EmbeddedPostgresError(
    state === 'moved'
      ? `The data in ${resolve(dataDir)} was moved to the database ${to} at ${moved_at}. To use that database, set DATABASE_URL and MASTER_KEY (or MASTER_KEY_FILE). ` +
          `To use the old data again, which lacks all changes since the move, remove ${path}.`
      : `The move of the data in ${resolve(dataDir)} to the database ${to} at ${moved_at} was interrupted during its commit. It is unknown if that database has the data. ` +
          `Run "roomservice move --to URL" again with that database, which finishes the move. ` +
          `To use the old data instead, check that no service uses that database, and remove ${path}.`,
  );
}
