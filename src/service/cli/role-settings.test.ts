import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, newCertificateFile, newFolder, startServing, stop, succeed } from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { bookStays, connectWith, waitForOutcomes } from '#test/support/filled-data-dir.ts';
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';

const noPooler = findPgbouncer() === undefined && 'there is no pgbouncer on PATH';

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

for (const [way, isPooled, limit] of [
  // Behind a pooler, a limit must leave enough time for the statement that makes the settings.
  ['directly', false, '1ms'],
  ['through PgBouncer', true, '1s'],
] as const) {
  describe(`a role with hostile settings, ${way}`, { skip: isPooled && noPooler }, () => {
    const role = `hostile_${randomBytes(6).toString('hex')}`;
    const databases: string[] = [];
    let server: TestDatabase;
    let receiver: Receiver;
    let pgbouncer: Pgbouncer | undefined;
    let env: Record<string, string>;
    before(async () => {
      server = await createTestDatabase();
      const settings = {
        ...HOSTILE,
        statement_timeout: limit,
        lock_timeout: limit,
        default_transaction_read_only: isPooled ? 'off' : 'on',
      };
      await run(`CREATE ROLE ${role} LOGIN PASSWORD 'hunter2'`);
      for (const [setting, value] of Object.entries(settings)) {
        await run(`ALTER ROLE ${role} SET ${setting} = '${value}'`);
      }
      const { certificate, path } = await newCertificateFile();
      receiver = await startReceiver({ certificate });
      env = {
        ...(await newDatabase()),
        MASTER_KEY: randomBytes(32).toString('base64'),
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
        NODE_EXTRA_CA_CERTS: path,
      };
    });
    after(async () => {
      await cleanUp();
      await pgbouncer?.close();
      await receiver.close();
      for (const database of databases) {
        await run(`DROP DATABASE ${database} WITH (FORCE)`);
      }
      await run(`DROP ROLE ${role}`);
      await server.drop();
    });

    const run = (text: string) => sql.raw(text).execute(server.db);

    /** Creates an empty database of the role. @returns the variables that lead to it */
    async function newDatabase(): Promise<Record<string, string>> {
      const url = new URL(server.url);
      [url.username, url.password, url.pathname] = [role, 'hunter2', `${role}_${databases.length}`];
      databases.push(url.pathname.slice(1));
      await run(`CREATE DATABASE ${url.pathname.slice(1)} OWNER ${role} ENCODING 'UTF8' TEMPLATE template0`);
      if (!isPooled) {
        return { DATABASE_URL: url.href };
      }
      pgbouncer ??= await startPgbouncer(url.href);
      return { DATABASE_URL: pgbouncer.urlOf(url.href), DATABASE_POOLER: 'true' };
    }

    const print = async (args: string[], more = {}) => (await succeed(args, { env: { ...env, ...more } })).stdout;

    it('migrate applies all migrations', async () => {
      assert.match(await print(['migrate']), /^Applied: 0001_/);
    });

    it('serve takes an order and stays, delivers the event, and records the outcome; config check and nights verify find no fault', async () => {
      const connect = connectWith(JSON.parse(await print(['demo', '--json'])));
      const serving = await startServing([], { env });
      const client = await connect(serving.url);
      const webhook = await client.partner('POST', '/v1/third-party/webhook/', { webhook_url: receiver.url });
      assert.equal(webhook.status, 200, webhook.text);
      await client.causeEvent();
      await bookStays(client);
      await receiver.waitFor(3);
      await waitForOutcomes(client);
      const { results } = (await client.owner('GET', '/v1/staff/webhook-deliveries/')).body;
      assert.deepEqual(
        results.map(({ status, attempts }: { status: string; attempts: unknown[] }) => [status, attempts.length]),
        [1, 2, 3].map(() => ['delivered', 1]),
      );
      assert.match(await print(['config', 'check']), /No fault was found\./);
      assert.doesNotMatch((await stop(serving)).stdout, /"level":[45]0/);
      assert.match(await print(['nights', 'verify']), /[1-9] nights checked, 0 with a wrong counter/);
    });

    it('backup and restore copy all rows into another database of the role', async () => {
      const file = join(await newFolder(), 'backup');
      await print(['backup', file]);
      const other = await newDatabase();
      assert.match(await print(['restore', file], other), /All credentials, webhook secrets and users work as before/);
      assert.match(await print(['nights', 'verify'], other), /[1-9] nights checked, 0 with a wrong counter/);
    });
  });
}
