/**
 * Why the embedded PostgreSQL cannot be used, and what to do about it: a message for the person who runs the service.
 */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

/** A second `serve` on one DATA_DIR. */
export class AlreadyServedError extends EmbeddedPostgresError {
  constructor(dataDir: string) {
    super(`Another "serve" already runs on this DATA_DIR (${dataDir}). Stop it, or let both share a DATABASE_URL.`);
    this.name = 'AlreadyServedError';
  }
}

/** The code of a system error such as ENOENT, or a SQLSTATE; empty where there is none. */
export function codeOf(error: unknown): string {
  return (error instanceof Error && (error as NodeJS.ErrnoException).code) || '';
}

/** For `.catch(…)`: undefined where the file does not exist; every other error stays one. */
export function ifAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') {
    throw error;
  }
}
