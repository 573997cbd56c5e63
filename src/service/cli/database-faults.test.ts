import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, newFolder, refuse, runCommand, succeed } from '#test/support/command.ts';
import { sampleTenant } from '#test/support/tenants.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { noCopies } from '#test/support/test-cluster.ts';

const PASSWORD = 'hidden-word';

describe('commands whose database fails', { skip: noCopies }, () => {
  let service: TestService;
  let folder: string;
  let backup: string;
  /** All commands that use the database of DATABASE_URL. */
  let commands: string[][];
  /** One command of each way in which commands open the database. */
  let someCommands: string[][];

  before(async () => {
    service = await startService();
    folder = await newFolder();
    backup = join(folder, 'good.backup');
    await succeed(['backup', backup], { env: envOf(service) });
    const document = join(folder, 'tenant.json');
    await writeFile(document, JSON.stringify(sampleTenant()));
    commands = [
      ['serve'],
      ['migrate'],
      ['tenant', 'apply', document],
      ['tenant', 'list'],
      ['demo'],
      ['trigger', 'order.status_changed'],
      ['nights', 'verify'],
      ['nights', 'repair'],
      ['keys', 'rewrap'],
      ['keys', 'discard', '--yes'],
      ['feed', 'expire-cursors'],
      ['cluster', 'verify'],
      ['cluster', 'distribute'],
      ['backup', join(folder, 'new.backup')],
      ['restore', backup],
    ];
    someCommands = commands.filter((command) =>
      /^(?:serve|tenant list|keys discard --yes|cluster verify|(?:backup|restore) \S+)$/.test(command.join(' ')),
    );
    assert.equal(someCommands.length, 6);
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  function urlWith(change: (url: URL) => void): string {
    const url = new URL(service.database.url);
    change(url);
    return url.href;
  }

  const envWith = (url: string) => ({ ...envOf(service), DATABASE_URL: url });

  async function newRole(t: TestContext, options = ''): Promise<string> {
    const name = `role_${randomBytes(6).toString('hex')}`;
    await sql.raw(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}' ${options}`).execute(service.database.db);
    t.after(() => sql.raw(`DROP ROLE ${name}`).execute(service.database.db));
    return urlWith((url) => ([url.username, url.password] = [name, PASSWORD]));
  }

  async function refuseAll(url: string, message: RegExp, given: string[][]): Promise<void> {
    const { password } = new URL(url);
    const ends = given.map(async (command) => ({
      command,
      ...(await runCommand(command, { env: { ...envWith(url), LOG_LEVEL: 'error' } })),
    }));
    for (const { command, code, stdout, stderr } of await Promise.all(ends)) {
      assert.deepEqual([code, stdout], [1, ''], `${command.join(' ')}: ${stderr}`);
      assert.match(stderr, message, command.join(' '));
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
      assert.ok(!stderr.includes(password), stderr);
    }
    const check = await runCommand(['config', 'check'], { env: envWith(url) });
    assert.equal(check.code, 1);
    const [, fault = ''] = /^ +database: (.*)$/m.exec(check.stderr) ?? [];
    assert.match(`roomservice: ${fault}`, message);
    assert.ok(!check.stderr.includes(password) && !check.stdout.includes(password));
  }

  it('each command exits 1 and names the wrong password or the missing role, and the variable', async () => {
    const url = urlWith((each) => (each.password = PASSWORD));
    await refuseAll(
      url,
      /^roomservice: The database at \S+ refuses the login \(password authentication failed for user "\w+"\)\. Correct the user name and the password in DATABASE_URL\.$/m,
      commands,
    );
  });

  it('commands exit 1 and name the missing database', async () => {
    await refuseAll(
      urlWith((url) => (url.pathname = '/nowhere')),
      /^roomservice: The database at \S+ does not exist \(database "nowhere" does not exist\)\. Correct the name of the database in DATABASE_URL/m,
      someCommands,
    );
  });

  it('commands exit 1 and say that the server refuses connections, or that the host is unknown', async () => {
    const refused = `postgres://someone:${PASSWORD}@127.0.0.1:1/house`;
    await refuseAll(
      refused,
      /^roomservice: The database at 127\.0\.0\.1:1 is out of reach \(ECONNREFUSED\)\. Check the host and the port in DATABASE_URL/m,
      someCommands,
    );
    const unknown = `postgres://someone:${PASSWORD}@nowhere.invalid/house`;
    await refuseAll(
      unknown,
      /^roomservice: The database at nowhere\.invalid:5432 is out of reach \((?:ENOTFOUND|EAI_AGAIN)\)\. Check the host and the port in DATABASE_URL/m,
      [['serve'], ['backup', join(folder, 'new.backup')]],
    );
  });

  it('commands exit 1 and name max_connections if the role has no free connection', async (t) => {
    const url = await newRole(t, 'CONNECTION LIMIT 0');
    await refuseAll(
      url,
      /allows no further connection \(too many connections for role "\w+"\)\. End connections that are not needed, raise max_connections/,
      someCommands,
    );
  });

  it('commands exit 1 and name the missing permission', async (t) => {
    const url = await newRole(t);
    const message =
      /The role \w+ may not read and change the table \w+\. Use the role that owns the tables, or run GRANT /;
    for (const command of [['serve'], ['tenant', 'list'], ['keys', 'discard', '--yes']]) {
      await refuse(command, { env: { ...envWith(url), LOG_LEVEL: 'error' } }, message);
    }
  });

  it('commands that write exit 1 and name the full disk, the lack of memory or the read-only database', async (t) => {
    const { db } = service.database;
    await sql`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION '%', TG_ARGV[1] USING ERRCODE = TG_ARGV[0]; END$$`.execute(db);
    const failing = async (state: string, text: string) => {
      for (const table of ['tenant', 'service_key', 'feed_era']) {
        await sql
          .raw(
            `CREATE OR REPLACE TRIGGER fails BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION fail('${state}', '${text}')`,
          )
          .execute(db);
      }
    };
    t.after(async () => {
      await sql`DROP FUNCTION fail() CASCADE`.execute(db);
    });
    const writing = commands.filter(
      ([name, verb]) => name === 'demo' || ['apply', 'expire-cursors'].includes(verb ?? ''),
    );
    assert.equal(writing.length, 3);
    const cases: [string, string, RegExp][] = [
      ['53100', 'could not extend file: No space left on device', /has a full disk \(.+\)\. Free some space/],
      [
        '53200',
        'out of memory',
        /cannot do the work \(out of memory\)\. Check DATABASE_URL and the log of the database/,
      ],
      [
        '25006',
        'cannot execute INSERT in a read-only transaction',
        /accepts no writes \(.+\)\. Set DATABASE_URL to the primary/,
      ],
      ['57P03', 'the database system is shutting down', /cannot do the work \(.+\)\. Check DATABASE_URL/],
    ];
    for (const [state, text, message] of cases) {
      await failing(state, text);
      for (const command of state === '53100' ? writing : writing.slice(-1)) {
        await refuse(command, { env: envOf(service) }, message);
      }
    }
  });

  it('with LOG_LEVEL=debug, a command prints the stack of the failure before the message, and no password', async () => {
    const url = `postgres://someone:${PASSWORD}@127.0.0.1:1/house`;
    const { stderr } = await runCommand(['tenant', 'list'], { env: { ...envWith(url), LOG_LEVEL: 'debug' } });
    assert.match(stderr, /^Error: connect ECONNREFUSED.*\n +at .*[^]*^roomservice: The database at .+$/m);
    assert.ok(!stderr.includes(PASSWORD));
  });
});
