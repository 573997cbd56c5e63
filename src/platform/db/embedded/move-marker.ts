import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ifAbsent, OperatorError } from '../failures.ts';
import { syncFolder } from '../../lib/new-file.ts';

/** Content of the file `moved-to` in DATA_DIR: the database to which the data was moved, and the time (ISO 8601), in one line each. */
interface MoveMarker {
  to: string;
  movedAt: string;
}

export function moveMarkerPath(dataDir: string): string {
  return join(resolve(dataDir), 'moved-to');
}

export async function readMoveMarker(dataDir: string): Promise<MoveMarker | null> {
  const text = await readFile(moveMarkerPath(dataDir), 'utf8').catch(ifAbsent);
  const [to = '', movedAt = ''] = text?.split('\n') ?? [];
  return text === undefined ? null : { to, movedAt };
}

/** Writes the marker so that it survives a loss of power. A file with the name of the marker is never incomplete. */
export async function writeMoveMarker(dataDir: string, { to, movedAt }: MoveMarker): Promise<void> {
  const path = moveMarkerPath(dataDir);
  const draft = `${path}.draft`;
  await writeFile(draft, `${to}\n${movedAt}\n`, { flush: true });
  await rename(draft, path);
  await syncFolder(resolve(dataDir));
}

/** Refuses moved data, because the other database would never get its changes. @throws OperatorError */
export async function refuseMoved(dataDir: string): Promise<void> {
  const marker = await readMoveMarker(dataDir);
  if (marker !== null) {
    throw movedError(dataDir, marker);
  }
}

/** Creates the error that says where the data is, how to use it there, and how to use the data in DATA_DIR again. */
export function movedError(dataDir: string, { to, movedAt }: MoveMarker): OperatorError {
  return new OperatorError(
    `The data in ${resolve(dataDir)} was moved to the database ${to} at ${movedAt}. To use that database, set DATABASE_URL and MASTER_KEY (or MASTER_KEY_FILE). ` +
      'If the move was interrupted and that database has no data, run "roomservice move" again. ' +
      `To use the old data again, which lacks all changes since the move, remove ${moveMarkerPath(dataDir)}.`,
  );
}
