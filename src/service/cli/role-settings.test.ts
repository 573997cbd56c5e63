import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newCertificateFile, newFolder, runCommand, startServing } from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { bookStays, connectWith, waitForOutcomes } from '#test/support/filled-data-dir.ts';
import { createHostileRole, type HostileRole } from '#test/support/hostile-role.ts';
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';

const noPooler = findPgbouncer() === undefined && 'there is no pgbouncer on PATH';

for (const [way, isPooled, limit] of [
  // Behind a pooler, a limit must leave enough time for the statement that makes the settings.
  ['directly', false, '1ms'],
  ['through PgBouncer', true, '1s'],
] as const) {
  describe(`a role with hostile settings, ${way}`, { skip: isPooled && noPooler }, () => {
    let database: TestDatabase;
    let role: HostileRole;
    let receiver: Receiver;
    let pgbouncer: Pgbouncer | undefined;
    let direct: URL;
    let env: Record<string, string>;
    before(async () => {
      database = await createTestDatabase();
      role = await createHostileRole(database.db, database.url, { limit, isReadOnly: !isPooled });
      direct = await role.createDatabase();
      pgbouncer = isPooled ? await startPgbouncer(direct.href) : undefined;
      const { certificate, path } = await newCertificateFile();
      receiver = await startReceiver({ certificate });
      env = {
        ...environmentOf(direct),
        MASTER_KEY: randomBytes(32).toString('base64'),
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
        NODE_EXTRA_CA_CERTS: path,
      };
    });
    after(async () => {
      await cleanUp();
      await pgbouncer?.close();
      await receiver.close();
      await role.drop();
      await database.drop();
    });

    const environmentOf = ({ href }: URL) =>
      pgbouncer === undefined
        ? { DATABASE_URL: href }
        : { DATABASE_URL: pgbouncer.urlOf(href), DATABASE_POOLER: 'true' };

    async function run(args: string[], more = {}): Promise<string> {
      const { code, stdout, stderr } = await runCommand(args, { env: { ...env, ...more } });
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      return stdout;
    }

    it('migrate applies all migrations', async () => {
      assert.match(await run(['migrate']), /^Applied: 0001_/);
    });

    it('serve takes an order and stays, delivers the event, and records the outcome; config check and nights verify find no fault', async () => {
      const connect = connectWith(JSON.parse(await run(['demo', '--json'])));
      const serving = await startServing([], { env });
      const client = await connect(serving.url);
      const webhook = await client.partner('POST', '/v1/third-party/webhook/', { webhook_url: receiver.url });
      assert.equal(webhook.status, 200, webhook.text);
      await client.causeEvent();
      await bookStays(client);
      await receiver.waitFor(3);
      await waitForOutcomes(client);
      const deliveries = await client.owner('GET', '/v1/staff/webhook-deliveries/');
      assert.deepEqual(
        deliveries.body.results.map(({ status, attempts }: { status: string; attempts: unknown[] }) => [
          status,
          attempts.length,
        ]),
        [1, 2, 3].map(() => ['delivered', 1]),
      );
      assert.match(await run(['config', 'check']), /No fault was found\./);
      serving.kill('SIGTERM');
      const { code, stdout } = await serving.ended;
      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /"level":[45]0/);
      assert.match(await run(['nights', 'verify']), /[1-9] nights checked, 0 with a wrong counter/);
    });

    it('backup and restore copy all rows into another database of the role', async () => {
      const file = join(await newFolder(), 'backup');
      await run(['backup', file]);
      const other = environmentOf(await role.createDatabase());
      assert.match(await run(['restore', file], other), /All credentials, webhook secrets and users work as before/);
      assert.match(await run(['nights', 'verify'], other), /[1-9] nights checked, 0 with a wrong counter/);
    });
  });
}
