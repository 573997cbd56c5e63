export const NO_DATABASE =
  'Set DATA_DIR or DATABASE_URL to the value that the service uses. If this is the first use, run "roomservice migrate" first.';

/** Error of the embedded PostgreSQL. The message tells the operator why PostgreSQL cannot be used, and what to do. */
export class EmbeddedPostgresError extends Error {}

/** Creates the error of a program of PostgreSQL that has printed `output` and failed. `what` is a sentence without a full stop. */
export function programError(what: string, output: string, folder: string, cause?: unknown): EmbeddedPostgresError {
  const message = output.includes('No space left on device')
    ? `The disk with the database in ${folder} is full. Free some space there, and run the command again.`
    : `${what}: ${output}`;
  return new EmbeddedPostgresError(message, { cause });
}

/** Returns the code of a system error, such as ENOENT, or a SQLSTATE, or an empty text. */
export function codeOf(error: unknown): string {
  return (error instanceof Error && (error as NodeJS.ErrnoException).code) || '';
}

/** Handler for `.catch(…)`. Returns undefined if the file does not exist, and throws every other error again. */
export function ifAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') {
    throw error;
  }
}
