import pg from 'pg';
import { OperatorError, UnavailableError } from '../errors.ts';
import { TimeLimitError } from '../lib/in-time.ts';
import { describeTlsFault, shortMessage } from '../lib/tls-faults.ts';
import { EmbeddedPostgresError, NO_DATABASE } from './embedded/failure.ts';
import { isUnavailable } from './failures.ts';

/** Database as messages to the operator name it. No part contains a password. */
export interface NamedDatabase {
  /** Beginning of a sentence, for example `The database at db.example:5432`. */
  subject: string;
  /** Setting or option that leads to the database: DATABASE_URL, DATA_DIR or --to. */
  setting: string;
}

/**
 * Returns host, port and name of the database that pg connects to with a URL, for example `db.example:5432/roomservice`. The result contains
 * no password.
 */
export function databaseName(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database ?? ''}`;
}

/** Names the database of a URL in messages. @param setting setting or option that has the URL */
export function nameDatabase(url: string, setting: string): NamedDatabase {
  const { host, port } = new pg.Client({ connectionString: url });
  return { subject: `The database at ${host}:${port}`, setting };
}

/** Predicate of a sentence about the database, and the remedy as a sentence in which `$` stands for the setting. */
interface Explanation {
  problem: string;
  remedy: string;
}

const AGAIN = 'run the command again';

/**
 * Explanations of the errors that PostgreSQL or a pooler reports: a pattern for the SQLSTATE and the message, a predicate, and a remedy. The
 * first one that matches counts. An error that none of them matches is a fault of the program.
 */
const EXPLANATIONS: [RegExp, string, string][] = [
  [
    /no encryption$|SSL off$/,
    'accepts only connections with TLS',
    'Add sslmode=verify-full to $ (docs/operating/connections.md).',
  ],
  [
    /client certificate|certificate required|certificate authentication failed/,
    'asks for a client certificate',
    'Add the paths of its files to $ with sslcert and sslkey (docs/operating/connections.md).',
  ],
  [
    /unsupported startup parameter/,
    'is behind a connection pooler',
    'Set DATABASE_POOLER to transaction, or add pooler=transaction to $ (docs/operating/connections.md).',
  ],
  [/client password must be/, 'asks for a password', 'Put the password into $, or set PGPASSWORD.'],
  [/SASL/, 'and the service cannot agree on the login', 'Check that $ leads to the right server, and check its log.'],
  [/no such user|authentication failed/, 'refuses the login', 'Correct the user name and the password in $.'],
  [/^28/, 'refuses the login', 'Check the user name in $, and pg_hba.conf and the roles of the server.'],
  [
    /^3D000|no such database/,
    'does not exist',
    'Correct the name of the database in $, or create this database (docs/operating/install.md).',
  ],
  [/^25006/, 'accepts no writes', 'Set $ to the primary, or allow writes on the server.'],
  [
    /^(?:42501|3F000)/,
    'denies a permission to the role of the service',
    'Make the role in $ the owner of the database and of its tables, or GRANT the permission to it.',
  ],
  [/^42P01/, 'lacks a table of Roomservice', NO_DATABASE],
  [/^53100|No space left on device/, 'has a full disk', `Free some space on the disk of the database, and ${AGAIN}.`],
  [
    /^53300/,
    'allows no further connection',
    `End connections that are not needed, raise max_connections, or set a smaller DATABASE_POOL_SIZE, and ${AGAIN}.`,
  ],
  [/^53/, 'has reached a limit of its machine', `Give the database server more resources, and ${AGAIN}.`],
  [/^57P03/, 'is starting or stopping', `Wait until the database accepts connections, and ${AGAIN}.`],
  [/^(?:08|25P|40|55|57|58|F0|XX)/, 'cannot do the work', `Check $ and the log of the database, and ${AGAIN}.`],
];

/** Codes of Node for a socket that cannot be opened although its address is right: the file of a Unix socket. */
const SOCKET_FILE_CODES = new Set(['ENOENT', 'EACCES']);
const UNKNOWN_HOST_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN']);
const UNREACHABLE_CODES = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ECONNABORTED']);

/**
 * Turns an error of a database, of its connection or of its TLS into an OperatorError with one sentence about the fault and one about its
 * remedy. Returns every other error unchanged, because it is a fault of the program or already has such a message.
 */
export function explainFault(error: unknown, database: NamedDatabase): unknown {
  if (error instanceof OperatorError) {
    return error;
  }
  if (error instanceof EmbeddedPostgresError) {
    return new OperatorError(error.message, { cause: error });
  }
  const found = explain(reasonOf(error), database.setting);
  return found === null
    ? error
    : new OperatorError(`${database.subject} ${found.problem}. ${found.remedy.replaceAll('$', database.setting)}`, {
        cause: error,
      });
}

/** Returns true if `explainFault` explains the error. */
export function isDatabaseFault(error: unknown): boolean {
  return explain(reasonOf(error), '') !== null;
}

/** Returns the innermost error: the first address that was tried, or the cause of an UnavailableError. */
function reasonOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return reasonOf(error.errors[0]);
  }
  return error instanceof UnavailableError && error.cause !== undefined ? reasonOf(error.cause) : error;
}

function explain(error: unknown, setting: string): Explanation | null {
  if (!(error instanceof Error)) {
    return null;
  }
  if (error instanceof UnavailableError) {
    return { problem: `cannot do the work (${error.message})`, remedy: `Later, ${AGAIN}.` };
  }
  const isReported = 'severity' in error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const found = EXPLANATIONS.find(([pattern]) => pattern.test(isReported ? `${code} ${message}` : message));
  if (found !== undefined) {
    return { problem: `${found[1]} (${shortMessage(error)})`, remedy: found[2] };
  }
  return isReported ? null : (explainTls(error, setting) ?? explainSocket(error));
}

function explainTls(error: Error, setting: string): Explanation | null {
  const found = describeTlsFault(error, {
    setting,
    trust: `write sslmode=verify-full&sslrootcert=/path/to/ca.pem in ${setting}`,
    skipCheck: `write sslmode=no-verify in ${setting}`,
    noTls: `write sslmode=disable in ${setting}`,
  });
  return found && { ...found, problem: `cannot be used, because ${found.problem}` };
}

/** Explains an error of a connection that was refused, lost or never opened. */
function explainSocket(error: Error): Explanation | null {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const isOfFile = SOCKET_FILE_CODES.has(code);
  const isOfSocket = isOfFile
    ? syscall === 'connect'
    : isUnavailable(error) || UNREACHABLE_CODES.has(code) || error instanceof TimeLimitError;
  if (!isOfSocket) {
    return null;
  }
  const problem = `is out of reach (${code || error.message})`;
  return UNKNOWN_HOST_CODES.has(code)
    ? { problem, remedy: 'No host of that name was found. Correct the host in $, or check the name service.' }
    : { problem, remedy: 'Check $, and check that the database runs.' };
}
