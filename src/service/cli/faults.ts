import { resolve } from 'node:path';
import type { Config } from '#platform/config.ts';
import { databaseName, nameDatabase } from '#platform/db/database-name.ts';
import { explainFault, type NamedDatabase } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { notify } from './terminal.ts';

/** Codes of Node for a file that the operating system refuses to read or to write, with the remedy. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space, and run the command again.',
  EDQUOT: 'The quota of the user is used up. Free some space, and run the command again.',
  EROFS: 'The file system is read-only. Use another folder, or mount it for writing.',
  EACCES: 'Give the user who runs the command the permission for it.',
  EPERM: 'Give the user who runs the command the permission for it.',
  EIO: 'Check the disk.',
  EMFILE: 'Raise the number of files that the process may open (ulimit -n).',
  ENFILE: 'Raise the number of files that the system may open.',
};

/** Names the database of the settings in messages. */
export function databaseOf({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): NamedDatabase {
  return databaseUrl === null
    ? { subject: `The database in ${resolve(dataDir)}`, setting: 'DATA_DIR' }
    : nameDatabase(databaseUrl, 'DATABASE_URL');
}

/** Tells the operator which database the command uses, on stderr by default. */
export function tellDatabase({ databaseUrl, dataDir }: Config, say = notify): void {
  say(
    `Database: ${databaseUrl === null ? `${resolve(dataDir)} (DATA_DIR)` : `${databaseName(databaseUrl)} (DATABASE_URL)`}`,
  );
}

/**
 * Turns a failure of the database or of a file into an OperatorError, which says what to do. Returns other errors unchanged. With
 * `LOG_LEVEL=debug`, also prints where the failure comes from.
 */
export function explain(config: Config, error: unknown): unknown {
  const fault = explainFile(explainFault(error, databaseOf(config)));
  if (fault instanceof OperatorError && ['trace', 'debug'].includes(config.logLevel)) {
    notify((fault.cause instanceof Error ? fault.cause : fault).stack ?? fault.message);
  }
  return fault;
}

function explainFile(error: unknown): unknown {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const remedy = FILE_FAULTS[code];
  return remedy === undefined || path === undefined || error instanceof OperatorError
    ? error
    : new OperatorError(`${path} cannot be used (${code}). ${remedy}`, { cause: error });
}
