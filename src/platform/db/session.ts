import pg from 'pg';
import { hasPooler } from '../lib/postgres-url.ts';

export const MIN_POSTGRES_MAJOR = 15;

/** Setting of PostgreSQL that shows if the settings of the service have arrived, because some poolers drop them. */
export const MARK = 'roomservice.session';

/** Settings on which the statements rely, so that those of a role, a database or a server do not matter. COPY writes by them. */
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
const LIMITS = { statement_timeout: '10000', idle_in_transaction_session_timeout: '15000' };
const NO_LIMITS: typeof LIMITS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };
const ISOLATION = 'read committed';

const IN_URL =
  /(?<=[?&])(?:options|client_encoding|statement_timeout|lock_timeout|idle_in_transaction_session_timeout)=[^&#]*&?/g;

interface Limits {
  hasNoTimeLimit?: boolean | undefined;
}

/** Settings go with the first message, beside options of the URL. A pooler drops them, so there each transaction makes them. */
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

/** Makes a client outside of the pools. If its connection is lost, the running statement fails, so `error` needs no handling. */
export function newClient(url: string, config: pg.ClientConfig & Limits): pg.Client {
  return new pg.Client({ ...config, ...clientConfig(url, config) }).on('error', () => {});
}

/** Returns statements that make the settings in a transaction. They take no snapshot, so it may lock tables first. */
export function localSettings(limits: Limits): string {
  return Object.entries(settingsOf(limits))
    .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
    .join('; ');
}

function settingsOf({ hasNoTimeLimit }: Limits): Record<string, string> {
  return { ...SETTINGS, ...(hasNoTimeLimit ? NO_LIMITS : LIMITS) };
}
