import pg from 'pg';
import { hasPooler } from '../lib/postgres-url.ts';

/** Oldest major version of PostgreSQL on which the service runs. */
export const MIN_POSTGRES_MAJOR = 15;

/** Setting of PostgreSQL that shows if the settings of the service have arrived, because some poolers drop them. */
export const MARK = 'roomservice.session';

/**
 * Settings of PostgreSQL on which the statements of the service rely. The service makes all of them itself, so the settings that a role, a
 * database or a server has for other programs do not matter. For example, COPY writes dates, intervals, bytes and numbers as text, which
 * the other database must be able to read.
 */
const SETTINGS = {
  [MARK]: 'on',
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  lock_timeout: '0',
  idle_session_timeout: '0',
};
/** Time limits that the server applies, in milliseconds: for one statement, and for a transaction that waits for its next statement. */
const LIMITS = { statement_timeout: '10000', idle_in_transaction_session_timeout: '15000' };
const NO_LIMITS: typeof LIMITS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };
const ISOLATION = 'read committed';

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
 * A pooler refuses such settings or drops them. So they are sent with each transaction instead (`localSettings`).
 */
export function clientConfig(url: string, limits: Limits = {}): pg.ClientConfig {
  if (hasPooler(url)) {
    return { connectionString: url };
  }
  const given = new pg.Client({ connectionString: url }) as unknown as { connectionParameters: { options?: string } };
  const modes = { default_transaction_isolation: ISOLATION, default_transaction_read_only: 'off' };
  const own = Object.entries({ ...modes, ...settingsOf(limits) }).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  );
  return {
    connectionString: url.replace(IN_URL, ''),
    options: [given.connectionParameters.options ?? '', ...own].join(' ').trim(),
  };
}

/**
 * Makes a client of pg outside of the pools, with the settings of the service. Does not connect it. If its connection is lost, the running
 * statement fails, so the event `error` needs no handling.
 */
export function newClient(url: string, config: pg.ClientConfig & Limits): pg.Client {
  return new pg.Client({ ...config, ...clientConfig(url, config) }).on('error', () => {});
}

/**
 * Returns a text of several statements that make the settings inside a transaction that has begun. They take no snapshot, so the transaction
 * may lock tables before it takes its snapshot.
 */
export function localSettings(limits: Limits): string {
  return Object.entries(settingsOf(limits))
    .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
    .join('; ');
}

function settingsOf({ hasNoTimeLimit }: Limits): Record<string, string> {
  return { ...SETTINGS, ...(hasNoTimeLimit ? NO_LIMITS : LIMITS) };
}
