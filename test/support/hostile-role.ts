import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

/**
 * Settings of a role that would break the service if they applied to it.
 */
const HOSTILE = {
  default_transaction_isolation: 'repeatable read',
  default_transaction_read_only: 'on',
  array_nulls: 'off',
  timezone: 'America/Santiago',
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  plan_cache_mode: 'force_generic_plan',
  idle_session_timeout: '1s',
  idle_in_transaction_session_timeout: '1s',
};
/** PostgreSQL has this limit from version 17 on. */
const TRANSACTION_LIMIT = '200ms';

export interface HostileRole {
  /** Creates an empty database that belongs to the role. @returns its URL, with which the role signs in */
  createDatabase(): Promise<URL>;
  drop(): Promise<void>;
}

/**
 * Creates a role with settings that must not matter.
 * @param db database of a superuser on the server
 * @param limit time limit of the role for statements and for waits, for example `1ms`
 */
export async function createHostileRole(db: Database, serverUrl: string, limit: string): Promise<HostileRole> {
  const name = `hostile_${randomBytes(6).toString('hex')}`;
  const run = (text: string) => sql.raw(text).execute(db);
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'hunter2'`);
  for (const [setting, value] of Object.entries({ ...HOSTILE, statement_timeout: limit, lock_timeout: limit })) {
    await run(`ALTER ROLE ${name} SET ${setting} = '${value}'`);
  }
  const { rows } = await sql`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`.execute(db);
  if (rows.length > 0) {
    await run(`ALTER ROLE ${name} SET transaction_timeout = '${TRANSACTION_LIMIT}'`);
  }
  const databases: string[] = [];
  return {
    async createDatabase() {
      const database = `${name}_${databases.length}`;
      databases.push(database);
      await run(`CREATE DATABASE ${database} OWNER ${name} ENCODING 'UTF8' TEMPLATE template0`);
      const url = new URL(serverUrl);
      [url.username, url.password, url.pathname] = [name, 'hunter2', database];
      return url;
    },
    async drop() {
      for (const database of databases) {
        await run(`DROP DATABASE ${database} WITH (FORCE)`);
      }
      await run(`DROP ROLE ${name}`);
    },
  };
}
