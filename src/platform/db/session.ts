import pg from 'pg';

/** What a URL leads to: PostgreSQL itself, or a connection pooler between this process and PostgreSQL. */
export interface Pooling {
  /**
   * True if there is a connection pooler, for example PgBouncer. It may run the statements of one client on different connections to the
   * server.
   */
  isPooled: boolean;
  /** True if a prepared statement can be used again in a later transaction. */
  keepsPreparedStatements: boolean;
  /** Major version of PostgreSQL. */
  major: number;
}

/** Oldest major version of PostgreSQL on which the service runs. */
export const MIN_POSTGRES_MAJOR = 15;
/** PostgreSQL itself, in the oldest version that the service supports. */
export const DIRECT: Pooling = { isPooled: false, keepsPreparedStatements: true, major: MIN_POSTGRES_MAJOR };

/**
 * Settings of PostgreSQL on which the statements of the service rely. The service makes all of them itself, so the settings that a role, a
 * database or a server has for other programs do not matter. For example:
 * - Under `repeatable read`, the transaction that holds the lock for migrations would keep a snapshot, and the build of an index in the same
 *   migration would wait for this snapshot forever.
 * - COPY writes dates, intervals, bytes and numbers as text, which the other database must be able to read.
 */
const SETTINGS = {
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  plan_cache_mode: 'auto',
  exit_on_error: 'off',
  lock_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
};
/** Time limits that the server applies, in milliseconds: for one statement, and for a transaction that waits for its next statement. */
const LIMITS = { statement_timeout: '10000', idle_in_transaction_session_timeout: '15000' };
const NO_LIMITS: typeof LIMITS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };
/** Mode of a transaction that names no other mode. */
const MODE = { isolation: 'read committed', read_only: 'off' };
/** First major version of PostgreSQL that has a setting, for the settings that older versions lack. */
const SINCE: Readonly<Record<string, number>> = { idle_session_timeout: 14, transaction_timeout: 17 };

/** Matches the parameters of a URL that would replace the settings of the service. */
const IN_URL =
  /(?<=[?&])(?:options|client_encoding|statement_timeout|lock_timeout|idle_in_transaction_session_timeout)=[^&#]*&?/g;

export interface Limits {
  /** True if statements have no time limit, for example in a migration. */
  hasNoTimeLimit?: boolean | undefined;
}

/**
 * Returns the configuration of a client of pg that connects to the URL with the settings of the service. They go with the first message to
 * the server, so they cost nothing. Options of the URL or of PGOPTIONS stay, for example a search path.
 *
 * A pooler refuses such settings or drops them. So the caller must send them with each transaction (`settingsOfTransaction`).
 */
export function clientConfig(url: string, pooling: Pooling, limits: Limits = {}): pg.ClientConfig {
  if (pooling.isPooled) {
    return { connectionString: url };
  }
  const given = new pg.Client({ connectionString: url }) as unknown as { connectionParameters: { options?: string } };
  const modes = Object.entries(MODE).map(([name, value]) => [`default_transaction_${name}`, value] as const);
  const own = [...modes, ...settingsOf(pooling, limits)].map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  );
  return {
    connectionString: url.replace(IN_URL, ''),
    options: [given.connectionParameters.options ?? '', ...own].join(' ').trim(),
  };
}

/** Statements that make the settings of the service behind a pooler, which runs the statements of one client on several connections. */
export interface PooledSettings {
  /**
   * Sent first in each message that begins a transaction, and in each message outside of a transaction. A BEGIN may follow them, and its
   * own modes then replace them. They give no warning outside of a transaction block, as SET LOCAL does, and last until the end of the
   * transaction, because PostgreSQL sets the mode of each transaction again.
   */
  modes: readonly string[];
  /** In place of `modes`, if a BEGIN follows that allows only reads. A standby refuses to make a transaction read-write. */
  modesOfReads: readonly string[];
  /** Sent after `modes` and BEGIN. It takes a snapshot, and PostgreSQL refuses to change the mode of a transaction after that. */
  others: string;
}

export function pooledSettings(pooling: Pooling, limits: Limits): PooledSettings {
  const calls = settingsOf(pooling, limits).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  const modesOfReads = [`SET transaction_isolation = '${MODE.isolation}'`];
  return {
    modes: [...modesOfReads, `SET transaction_read_only = ${MODE.read_only}`],
    modesOfReads,
    others: `SELECT ${calls.join(', ')}`,
  };
}

/**
 * Returns a text of several statements that make the settings inside a transaction that has begun. They take no snapshot, so the transaction
 * may lock tables before it takes its snapshot.
 */
export function localSettings(pooling: Pooling, limits: Limits): string {
  return settingsOf(pooling, limits)
    .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
    .join('; ');
}

function settingsOf({ major }: Pooling, { hasNoTimeLimit }: Limits): [string, string][] {
  const all = Object.entries({ ...SETTINGS, ...(hasNoTimeLimit ? NO_LIMITS : LIMITS) });
  return all.filter(([name]) => major >= (SINCE[name] ?? 0));
}
