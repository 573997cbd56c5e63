import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, newFolder, runCommand } from '#test/support/command.ts';
import { query } from '#test/support/embedded-postgres.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { noCopies } from '#test/support/test-cluster.ts';
import { createDatabase } from '#platform/db/database.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

describe('a database that the service cannot use', { skip: noCopies }, () => {
  let service: TestService;
  let backup: string;
  let key: { MASTER_KEY: string };
  before(async () => {
    service = await startService();
    key = { MASTER_KEY: service.masterKey.toString('base64') };
    backup = join(await newFolder(), 'backup');
    const made = await runCommand(['backup', backup], { env: { ...key, DATABASE_URL: service.database.url } });
    assert.equal(made.code, 0, made.stderr);
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  const run = (text: string) => sql.raw(text).execute(service.database.db);

  async function createEmpty(t: TestContext, options: string): Promise<URL> {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await run(`CREATE DATABASE ${name} TEMPLATE template0 ${options}`);
    t.after(() => run(`DROP DATABASE ${name} WITH (FORCE)`));
    const url = new URL(service.database.url);
    url.pathname = name;
    return url;
  }

  async function countTables(url: URL): Promise<number> {
    const db = createDatabase({ url: url.href, poolSize: 1 });
    const { rows } = await sql`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`.execute(db);
    await db.destroy();
    return rows.length;
  }

  async function assertRefused(args: string[], env: Record<string, string>, reason: RegExp): Promise<void> {
    const { code, stdout, stderr } = await runCommand(args, { env });
    assert.deepEqual([code, args[0] === 'serve' ? '' : stdout], [1, ''], args.join(' '));
    const [last = ''] = stderr.trim().split('\n').slice(-1);
    assert.match(last, reason, args.join(' '));
    assert.doesNotMatch(stderr, /\n {4}at /, args.join(' '));
  }

  it('a database of a development version is refused', async () => {
    const statement = "UPDATE kysely_migration SET name = '0001_tenants'";
    const dataDir = await newMigratedDataDir();
    const embedded = await openEmbeddedPostgres({ dataDir, role: 'command' });
    await query(embedded.url, statement);
    await embedded.close();
    const refusal =
      'A development version of Roomservice made this database \\(0001_tenants\\), and no release reads it\\.';
    for (const args of [['serve'], ['migrate'], ['tenant', 'list']]) {
      await assertRefused(args, { DATA_DIR: dataDir }, new RegExp(`${refusal} Move DATA_DIR away`));
    }
    await run(statement);
    const env = { ...key, DATABASE_URL: service.database.url };
    await assertRefused(['serve'], env, new RegExp(refusal));
    const check = await runCommand(['config', 'check'], { env });
    assert.deepEqual([check.code, new RegExp(refusal).test(check.stderr)], [1, true], check.stderr);
    await run("UPDATE kysely_migration SET name = '0001_schema'");
  });

  /** Creates a database with another encoding. @returns its URL, and the message with which it must be refused */
  async function createWith(t: TestContext, encoding: string): Promise<{ url: URL; refusal: RegExp }> {
    const url = await createEmpty(t, `ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`);
    const text = `^roomservice: The encoding of the database is ${encoding}\\. .+ENCODING 'UTF8' TEMPLATE template0.+Nothing was changed\\.$`;
    return { url, refusal: new RegExp(text) };
  }

  it('each command that writes refuses a database with the encoding SQL_ASCII, config check reports it, and the database stays empty', async (t) => {
    const { url, refusal } = await createWith(t, 'SQL_ASCII');
    const env = { ...key, DATABASE_URL: url.href };
    for (const args of [['migrate'], ['serve'], ['demo'], ['restore', backup], ['keys', 'discard', '--yes']]) {
      await assertRefused(args, env, refusal);
    }
    await assertRefused(['move', '--to', url.href], { DATA_DIR: await newMigratedDataDir() }, refusal);
    const { code, stderr } = await runCommand(['config', 'check'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /database: The encoding of the database is SQL_ASCII\./);
    assert.equal(await countTables(url), 0);
  });

  it('migrate refuses a database with the encoding LATIN1 or EUC_JP, and the database stays empty', async (t) => {
    for (const encoding of ['LATIN1', 'EUC_JP']) {
      const { url, refusal } = await createWith(t, encoding);
      await assertRefused(['migrate'], { ...key, DATABASE_URL: url.href }, refusal);
      assert.equal(await countTables(url), 0);
    }
  });

  it('serve and config check refuse a role that may not change a table, serve also one that may not apply missing migrations, and both name the remedy', async (t) => {
    const role = `reader_${randomBytes(6).toString('hex')}`;
    await run(`CREATE ROLE ${role} LOGIN PASSWORD 'hunter2'`);
    await run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
    t.after(async () => {
      await run(`DROP OWNED BY ${role}`);
      await run(`DROP ROLE ${role}`);
    });
    const url = new URL(service.database.url);
    [url.username, url.password] = [role, 'hunter2'];
    const env = { ...key, DATABASE_URL: url.href };
    const assertBoth = async (reason: string) => {
      await assertRefused(['serve'], env, new RegExp(`^roomservice: ${reason}`));
      const check = await runCommand(['config', 'check'], { env });
      assert.equal(check.code, 1);
      assert.match(check.stderr, new RegExp(`database: ${reason}`));
    };
    const nights = await runCommand(['nights', 'verify'], { env });
    assert.equal(nights.code, 0, nights.stderr);
    await run(`REVOKE DELETE ON delivery FROM ${role}`);
    await assertBoth(
      `The role ${role} may not read and change the table delivery\\. .+GRANT SELECT, INSERT, UPDATE, DELETE`,
    );
    await run(`REVOKE SELECT ON kysely_migration FROM ${role}`);
    await run(`GRANT DELETE ON delivery TO ${role}`);
    await assertRefused(['serve'], env, /denies a permission .+kysely_migration/);
    await run(`GRANT SELECT ON kysely_migration TO ${role}`);
    await run(`DELETE FROM kysely_migration WHERE name = (SELECT max(name) FROM kysely_migration)`);
    await assertRefused(
      ['serve'],
      env,
      /denies a permission .+Make the role in DATABASE_URL the owner of the database/,
    );
  });
});
