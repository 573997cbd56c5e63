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

/** Predicate of a sentence about the database, and the remedy as a sentence. */
interface Explanation {
  problem: string;
  remedy: string;
}

const AGAIN = 'run the command again';

/**
 * Explanations of the errors that PostgreSQL reports, by their SQLSTATE or by its first two characters (its class). `$` stands for the
 * setting. A state that is missing here is a fault of the program.
 */
const STATES: Readonly<Record<string, Explanation>> = {
  '08': { problem: 'broke the connection', remedy: `Check $ and the log of the database, and ${AGAIN}.` },
  '28': {
    problem: 'refuses the login',
    remedy: 'Correct the user name and the password in $, and check pg_hba.conf and the roles of the server.',
  },
  '3D000': {
    problem: 'does not exist',
    remedy: 'Correct the name of the database in $, or create this database (docs/operating/install.md).',
  },
  '25006': { problem: 'accepts no writes', remedy: 'Set $ to the primary, or allow writes on the server.' },
  '25P03': { problem: 'ended the connection', remedy: `${capital(AGAIN)} when the database has less work.` },
  '40': {
    problem: 'has conflicts with other transactions',
    remedy: `${capital(AGAIN)} when the database has less work.`,
  },
  '42501': {
    problem: 'denies a permission to the role of the service',
    remedy: 'Make the role in $ the owner of the database and of its tables, or GRANT the permission to it.',
  },
  '3F000': {
    problem: 'has no schema in which the role of the service may create tables',
    remedy: 'Make the role in $ the owner of the database, or GRANT CREATE ON SCHEMA public to it.',
  },
  '42P01': { problem: 'lacks a table of Roomservice', remedy: NO_DATABASE },
  '53': {
    problem: 'has reached a limit of its machine',
    remedy: `Give the database server more resources, and ${AGAIN}.`,
  },
  '53100': { problem: 'has a full disk', remedy: `Free some space on the disk of the database, and ${AGAIN}.` },
  '53200': {
    problem: 'has not enough memory',
    remedy: `Give the database server more memory, or lower its memory settings, and ${AGAIN}.`,
  },
  '53300': {
    problem: 'allows no further connection',
    remedy: `End connections that are not needed, raise max_connections, or set a smaller DATABASE_POOL_SIZE, and ${AGAIN}.`,
  },
  '55': { problem: 'is in use', remedy: `Wait until the other work on the database has ended, and ${AGAIN}.` },
  '57': { problem: 'ended the work', remedy: `Check the log of the database, and ${AGAIN}.` },
  '57P03': { problem: 'is starting or stopping', remedy: `Wait until the database accepts connections, and ${AGAIN}.` },
  '58': { problem: 'cannot use its files', remedy: `Check the disk and the log of the database server, and ${AGAIN}.` },
  F0: { problem: 'has a wrong configuration file', remedy: 'Correct the file that the log of the database names.' },
  XX001: { problem: 'has damaged data', remedy: 'Check the disk of the database server, and restore a backup.' },
  XX002: { problem: 'has a damaged index', remedy: 'Check the disk of the database server, and run REINDEX DATABASE.' },
};

/** Explanations by a part of the message, which tells more than the SQLSTATE. They come before `STATES`. */
const MESSAGES: [RegExp, Explanation][] = [
  [
    /no encryption$|SSL off$/,
    {
      problem: 'accepts only connections with TLS',
      remedy: 'Add sslmode=verify-full to $ (docs/operating/connections.md).',
    },
  ],
  [
    /client certificate|certificate required|^certificate authentication failed/,
    {
      problem: 'asks for a client certificate',
      remedy: 'Add the paths of its files to $ with sslcert and sslkey (docs/operating/connections.md).',
    },
  ],
  [/no such database/, { problem: 'does not exist', remedy: 'Correct the name of the database in $.' }],
  [
    /no such user|authentication failed/,
    { problem: 'refuses the login', remedy: 'Correct the user name and the password in $.' },
  ],
  [
    /unsupported startup parameter/,
    {
      problem: 'is behind a connection pooler',
      remedy: 'Set DATABASE_POOLER to transaction, or add pooler=transaction to $ (docs/operating/connections.md).',
    },
  ],
  [
    /client password must be/,
    { problem: 'asks for a password', remedy: 'Put the password into $, or set PGPASSWORD.' },
  ],
  [
    /^SASL/,
    {
      problem: 'and the service cannot agree on the login',
      remedy: 'Check that $ leads to the right server, and check its log.',
    },
  ],
  [
    /No space left on device/,
    { problem: 'has a full disk', remedy: `Free some space on the disk of the database, and ${AGAIN}.` },
  ],
];

/** Codes of Node for a socket that cannot be opened although its address is right: the file of a Unix socket. */
const SOCKET_FILE_CODES = new Set(['ENOENT', 'EACCES']);
const UNKNOWN_HOST_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN']);
const UNREACHABLE_CODES = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ECONNABORTED']);

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

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
    return { problem: `cannot do the work (${error.message})`, remedy: `${capital(AGAIN)} later.` };
  }
  const byMessage = MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1];
  if ('severity' in error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return withReason(byMessage ?? STATES[code] ?? STATES[code.slice(0, 2)], error);
  }
  return withReason(byMessage, error) ?? explainTls(error, setting) ?? explainSocket(error);
}

function withReason(found: Explanation | undefined, error: Error): Explanation | null {
  return found === undefined ? null : { ...found, problem: `${found.problem} (${shortMessage(error)})` };
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
