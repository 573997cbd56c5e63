import pg from 'pg';
import { OperatorError, UnavailableError } from '../errors.ts';
import { TimeLimitError } from '../lib/in-time.ts';
import { describeTlsFault, shortMessage } from '../lib/tls-faults.ts';
import { isUnavailable } from './failures.ts';

export type NamedDatabase = ReturnType<typeof nameDatabase>;

/** Names the database of a URL without its password. @param setting setting or option that has the URL */
export function nameDatabase(url: string, setting: string) {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return { subject: `The database at ${host}:${port}`, name: `${host}:${port}/${database ?? ''}`, setting };
}

/** Pattern of SQLSTATE and message, predicate, and remedy. The first match counts. Without a match, it is a fault of the program. */
const EXPLANATIONS: [RegExp, string, string][] = [
  [/no encryption$|SSL off$/, 'accepts only connections with TLS', 'Add sslmode=verify-full to $.'],
  [
    /client certificate|certificate required|certificate authentication failed/,
    'asks for a client certificate',
    'Add the paths of its files to $ with sslcert and sslkey (docs/operating/connections.md).',
  ],
  [
    /unsupported startup parameter/,
    'is behind a connection pooler',
    'Set DATABASE_POOLER to true, or add pooler=true to $ (docs/operating/connections.md).',
  ],
  [
    /^28|password must be|SASL|no such user|authentication failed/,
    'refuses the login',
    'Correct the user name and the password in $.',
  ],
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
  [/^53100|No space left on device/, 'has a full disk', 'Free some space on it, and run the command again.'],
  [
    /^53300/,
    'allows no further connection',
    'End connections that are not needed, raise max_connections, or set a smaller DATABASE_POOL_SIZE.',
  ],
  [
    /^(?:08|25P|40|53|55|57|58|F0|XX)/,
    'cannot do the work',
    'Check $ and the log of the database, and run the command again.',
  ],
];

export function explainFault(error: unknown, database: Omit<NamedDatabase, 'name'>): unknown {
  if (error instanceof OperatorError) {
    return error;
  }
  const found = explain(reasonOf(error), database.setting);
  return found === null
    ? error
    : new OperatorError(`${database.subject} ${found.problem}. ${found.remedy.replaceAll('$', database.setting)}`, {
        cause: error,
      });
}

export function isDatabaseFault(error: unknown): boolean {
  return explain(reasonOf(error), '') !== null;
}

function reasonOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return reasonOf(error.errors[0]);
  }
  return error instanceof UnavailableError && error.cause !== undefined ? reasonOf(error.cause) : error;
}

function explain(error: unknown, setting: string): { problem: string; remedy: string } | null {
  if (!(error instanceof Error)) {
    return null;
  }
  const isReported = 'severity' in error;
  const { code = '', syscall = '', message } = error as NodeJS.ErrnoException;
  const found = EXPLANATIONS.find(([pattern]) => pattern.test(isReported ? `${code} ${message}` : message));
  if (found !== undefined) {
    return { problem: `${found[1]} (${shortMessage(error)})`, remedy: found[2] };
  }
  if (isReported) {
    return null;
  }
  const tls = describeTlsFault(error, {
    trust: `write sslmode=verify-full&sslrootcert=/path/to/ca.pem in ${setting}`,
    noTls: `write sslmode=disable in ${setting}`,
  });
  if (tls !== null) {
    return { ...tls, problem: `cannot be used, because ${tls.problem}` };
  }
  const isOfSocket =
    ['connect', 'getaddrinfo'].includes(syscall) ||
    error instanceof TimeLimitError ||
    (isUnavailable(error) && code !== 'ENOENT'); // The error of a missing file.
  return isOfSocket
    ? {
        problem: `is out of reach (${code || message})`,
        remedy: 'Check the host and the port in $, and check that the database runs.',
      }
    : null;
}
