import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, newDataDir, newFolder, refuse, runCommand, startServing, succeed } from '#test/support/command.ts';
import { countTables, createEmptyDatabase } from '#test/support/database.ts';
import { query } from '#test/support/embedded-postgres.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { sampleTenant } from '#test/support/tenants.ts';
import { noCopies } from '#test/support/test-cluster.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

const PASSWORD = 'hidden-word';

let service: TestService;
let folder: string;
/** Commands that need a database with the tables of the service. */
let onData: string[][];
before(async () => {
  service = await startService();
  folder = await newFolder();
  const document = join(folder, 'tenant.json');
  await writeFile(document, JSON.stringify(sampleTenant()));
  onData = [
    ['tenant', 'apply', document],
    ['tenant', 'apply', document, '--dry-run'],
    ['tenant', 'list'],
    ['demo'],
    ['trigger', 'order.status_changed'],
    ['nights', 'verify'],
    ['nights', 'repair'],
    ['keys', 'rewrap'],
    ['keys', 'discard', '--yes'],
    ['feed', 'expire-cursors'],
    ['backup', join(folder, 'new.backup')],
  ];
});
after(async () => {
  await cleanUp();
  await service.close();
});

const run = (text: string) => sql.raw(text).execute(service.database.db);
const envWith = ({ href }: URL) => ({ ...envOf(service), DATABASE_URL: href });

/** Asserts that `config check` exits with 1 and reports a fault of the database. */
async function assertReported(env: Record<string, string>, fault: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
  assert.equal(code, 1);
  const [, reported = ''] = /^ +database: (.*)$/m.exec(stderr) ?? [];
  assert.match(`roomservice: ${reported}`, fault);
  assert.ok(!(stdout + stderr).includes(PASSWORD));
}

describe('the database of commands on data', () => {
  it('if DATA_DIR has no database, each command exits 1, names the folder, both variables and the first command, and makes nothing', async () => {
    const dataDir = await newDataDir();
    const missing = `There is no database in ${dataDir} \\(DATA_DIR\\)\\. Set DATA_DIR or DATABASE_URL to .+ "roomservice migrate" first`;
    for (const command of [...onData, ['move', '--to', service.database.url]]) {
      await refuse(command, { env: { DATA_DIR: dataDir } }, new RegExp(`^roomservice: ${missing}\\.\n$`));
    }
    await assert.rejects(stat(dataDir), { code: 'ENOENT' });
    const ofOthers = await newFolder();
    await writeFile(join(ofOthers, 'master-key'), 'x');
    await mkdir(join(ofOthers, 'letters'));
    // A start that was interrupted while it made the database leaves its password.
    const unfinished = await newFolder();
    await writeFile(join(unfinished, 'postgres-password'), 'x', { mode: 0o600 });
    for (const other of [ofOthers, unfinished]) {
      const names = await readdir(other);
      await refuse(['tenant', 'list'], { env: { DATA_DIR: other } }, /There is no database in /);
      assert.deepEqual(await readdir(other), names);
    }
  });

  it('if the database of DATABASE_URL is empty, each command exits 1, says to run migrate, and makes no table', async (t) => {
    const url = await createEmptyDatabase(t, service.database);
    const message =
      /^roomservice: The database .+(?:no tables|lacks a table) of Roomservice.+ DATABASE_URL .+"roomservice migrate" first\.\n$/;
    for (const command of onData) {
      await refuse(command, { env: envWith(url) }, message);
    }
    assert.equal(await countTables(url), 0);
  });

  it('each command says on stderr which database it uses, and prints only JSON on stdout with --json', {
    skip: noCopies,
  }, async () => {
    const dataDir = await newMigratedDataDir();
    const { hostname, port, pathname } = new URL(service.database.url);
    const ofServer = `Database: ${decodeURIComponent(hostname)}:${port || 5432}${pathname} (DATABASE_URL)`;
    for (const [env, line] of [
      [{ DATA_DIR: dataDir }, `Database: ${dataDir} (DATA_DIR)`],
      [envOf(service), ofServer],
    ] as const) {
      for (const command of [
        ['tenant', 'list'],
        ['backup', join(folder, `${line.length}.backup`)],
      ]) {
        const { stdout, database } = await succeed([...command, '--json'], { env });
        assert.equal(database, line);
        assert.equal(typeof JSON.parse(stdout), 'object');
      }
      assert.equal((await runCommand(['migrate'], { env })).database, line);
    }
    const serving = await startServing(['--only', 'api'], { env: envOf(service) });
    assert.ok(serving.output().includes(ofServer), serving.output());
    serving.kill('SIGTERM');
    await serving.ended;
  });
});

describe('commands whose database fails', { skip: noCopies }, () => {
  let backup: string;
  /** One command of each way in which commands open the database. */
  let someCommands: string[][];
  before(async () => {
    backup = join(folder, 'good.backup');
    await succeed(['backup', backup], { env: envOf(service) });
    someCommands = [
      ['serve'],
      ['tenant', 'list'],
      ['keys', 'discard', '--yes'],
      ['cluster', 'verify'],
      ['backup', join(folder, 'new.backup')],
      ['restore', backup],
    ];
  });

  function urlWith(change: (url: URL) => void): URL {
    const url = new URL(service.database.url);
    change(url);
    return url;
  }

  async function newRole(t: TestContext, options = ''): Promise<{ role: string; url: URL }> {
    const role = `role_${randomBytes(6).toString('hex')}`;
    await run(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}' ${options}`);
    t.after(async () => {
      await run(`DROP OWNED BY ${role}`);
      await run(`DROP ROLE ${role}`);
    });
    return { role, url: urlWith((url) => ([url.username, url.password] = [role, PASSWORD])) };
  }

  async function refuseAll(url: URL, message: RegExp, commands = someCommands): Promise<void> {
    const env = { ...envWith(url), LOG_LEVEL: 'error' };
    const printed = await Promise.all(commands.map((command) => refuse(command, { env }, message)));
    assert.ok(!printed.join('').includes(PASSWORD));
    await assertReported(env, message);
  }

  it('each command exits 1 and names the wrong password or the missing role, and the variable, and not the password', async () => {
    const url = urlWith((each) => (each.password = PASSWORD));
    const message =
      /^roomservice: The database at \S+ refuses the login \(password authentication failed for user "\w+"\)\. Correct the user name and the password in DATABASE_URL\.$/m;
    await refuseAll(url, message, [...someCommands, ['migrate'], ['cluster', 'distribute'], ...onData]);
  });

  it('commands exit 1 and name the missing database, say that the host is unknown or refuses connections, or name max_connections', async (t) => {
    await refuseAll(
      urlWith((url) => (url.pathname = '/nowhere')),
      /^roomservice: The database at \S+ does not exist \(database "nowhere" does not exist\)\. Correct the name of the database in DATABASE_URL/m,
    );
    await refuseAll(
      new URL(`postgres://someone:${PASSWORD}@127.0.0.1:1/house`),
      /^roomservice: The database at 127\.0\.0\.1:1 is out of reach \(ECONNREFUSED\)\. Check the host and the port in DATABASE_URL/m,
    );
    await refuseAll(
      new URL(`postgres://someone:${PASSWORD}@nowhere.invalid/house`),
      /^roomservice: The database at nowhere\.invalid:5432 is out of reach \((?:ENOTFOUND|EAI_AGAIN)\)\. Check the host and the port in DATABASE_URL/m,
      [['serve']],
    );
    await refuseAll(
      (await newRole(t, 'CONNECTION LIMIT 0')).url,
      /allows no further connection \(too many connections for role "\w+"\)\. End connections that are not needed, raise max_connections/,
    );
  });

  it('commands that write exit 1 and name the full disk', async (t) => {
    await run(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$`);
    t.after(() => run('DROP FUNCTION fail() CASCADE'));
    for (const table of ['tenant', 'feed_era']) {
      await run(`CREATE TRIGGER fails BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION fail()`);
    }
    for (const command of [onData[0] ?? [], ['demo'], ['feed', 'expire-cursors']]) {
      await refuse(command, { env: envOf(service) }, /has a full disk \(.+\)\. Free some space/);
    }
  });

  it('with LOG_LEVEL=debug, a command prints the stack of the failure before the message, and no password', async () => {
    const env = envWith(new URL(`postgres://someone:${PASSWORD}@127.0.0.1:1/house`));
    const { stderr } = await runCommand(['tenant', 'list'], { env: { ...env, LOG_LEVEL: 'debug' } });
    assert.match(stderr, /^Error: connect ECONNREFUSED.*\n +at .*[^]*^roomservice: The database at .+$/m);
    assert.ok(!stderr.includes(PASSWORD));
  });

  it('a database of a development version is refused', async () => {
    const statement = "UPDATE kysely_migration SET name = '0001_tenants'";
    const dataDir = await newMigratedDataDir();
    const embedded = await openEmbeddedPostgres({ dataDir, role: 'command' });
    await query(embedded.url, statement);
    await embedded.close();
    const refusal =
      'A development version of Roomservice made this database \\(0001_tenants\\), and no release reads it\\.';
    for (const command of [['serve'], ['migrate'], ['tenant', 'list']]) {
      await refuse(command, { env: { DATA_DIR: dataDir } }, new RegExp(`${refusal} Move DATA_DIR away`));
    }
    await run(statement);
    await refuse(['serve'], { env: envOf(service) }, new RegExp(refusal));
    await assertReported(envOf(service), new RegExp(refusal));
    await run("UPDATE kysely_migration SET name = '0001_schema'");
  });

  it('each command that writes refuses a database with another encoding, config check reports it, and the database stays empty', async (t) => {
    for (const [encoding, ...commands] of [
      ['SQL_ASCII', ['migrate'], ['serve'], ['demo'], ['restore', backup], ['keys', 'discard', '--yes']],
      ['LATIN1', ['migrate']],
      ['EUC_JP', ['migrate']],
    ] as [string, ...string[][]][]) {
      const options = `ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`;
      const url = await createEmptyDatabase(t, service.database, options);
      const refusal = new RegExp(
        `^roomservice: The encoding of the database is ${encoding}\\. .+ENCODING 'UTF8' TEMPLATE template0.+Nothing was changed\\.$`,
        'm',
      );
      for (const command of commands) {
        await refuse(command, { env: envWith(url) }, refusal);
      }
      await refuse(['move', '--to', url.href], { env: { DATA_DIR: await newMigratedDataDir() } }, refusal);
      await assertReported(envWith(url), new RegExp(`The encoding of the database is ${encoding}\\.`));
      assert.equal(await countTables(url), 0);
    }
  });

  it('serve and config check refuse a role that may not change a table, serve also one that may not apply missing migrations, and both name the remedy', async (t) => {
    const { role, url } = await newRole(t);
    const env = envWith(url);
    await run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
    await succeed(['nights', 'verify'], { env });
    await run(`REVOKE DELETE ON delivery FROM ${role}`);
    const message = new RegExp(
      `^roomservice: The role ${role} may not read and change the table delivery\\. .+GRANT SELECT, INSERT, UPDATE, DELETE`,
      'm',
    );
    await refuse(['serve'], { env }, message);
    await assertReported(env, message);
    await run(`REVOKE SELECT ON kysely_migration FROM ${role}`);
    await run(`GRANT DELETE ON delivery TO ${role}`);
    await refuse(['serve'], { env }, /denies a permission .+kysely_migration/);
    await run(`GRANT SELECT ON kysely_migration TO ${role}`);
    await run(`DELETE FROM kysely_migration WHERE name = (SELECT max(name) FROM kysely_migration)`);
    await refuse(['serve'], { env }, /denies a permission .+Make the role in DATABASE_URL the owner of the database/);
  });
});
