import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

const HOSTILE = {
  default_transaction_isolation: 'repeatable read',
  timezone: 'America/Santiago',
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  idle_session_timeout: '1s',
  idle_in_transaction_session_timeout: '1s',
};

export interface HostileRole {
  /** Creates an empty database that belongs to the role. @returns its URL, with which the role signs in */
  createDatabase(): Promise<URL>;
  drop(): Promise<void>;
}

/**
 * Creates a role with settings that must not matter.
 * @param db database of a superuser on the server
 * @param options.limit time limit of the role for statements and for waits, for example `1ms`
 */
export async function createHostileRole(
  db: Database,
  serverUrl: string,
  { limit, isReadOnly }: { limit: string; isReadOnly: boolean },
): Promise<HostileRole> {
  const name = `hostile_${randomBytes(6).toString('hex')}`;
  const run = (text: string) => sql.raw(text).execute(db);
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'hunter2'`);
  const limits = {
    statement_timeout: limit,
    lock_timeout: limit,
    default_transaction_read_only: isReadOnly ? 'on' : 'off',
  };
  for (const [setting, value] of Object.entries({ ...HOSTILE, ...limits })) {
    await run(`ALTER ROLE ${name} SET ${setting} = '${value}'`);
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
