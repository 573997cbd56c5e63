import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { cleanUp, newDataDir, postgresPid, runCommand, startServing, untilReady } from '#test/support/command.ts';
import { createTestDatabase } from '#test/support/database.ts';

describe('roomservice command line', () => {
  let env: Record<string, string>;

  before(async () => {
    env = { DATA_DIR: await newDataDir() };
  });
  after(cleanUp);

  it('roomservice exits 2 and prints a usage hint if a command or option is wrong, and starts no database', async () => {
    const wrong = [
      [],
      ['fly'],
      ['serve', '--only', 'both'],
      ['serve', '--fast'],
      ['tenant'],
      ['tenant', 'apply'],
      ['tenant', 'apply', 'a.json', 'b.json'],
      ['migrate', 'now'],
    ];
    for (const batch of [wrong.slice(0, 4), wrong.slice(4)]) {
      const ends = await Promise.all(batch.map((args) => runCommand(args, { env })));
      ends.forEach(({ code, stdout, stderr }, index) => {
        assert.equal(code, 2, `${batch[index]?.join(' ')}: ${stderr}`);
        assert.equal(stdout, '');
        assert.match(stderr, /Usage: roomservice|--help/);
      });
    }
    assert.equal(await postgresPid(env['DATA_DIR'] ?? ''), 0);
  });

  it('roomservice --help exits 0 and lists the commands, or the options of one command, on stdout', async () => {
    const [all, one] = await Promise.all([runCommand(['--help']), runCommand(['serve', '--help'])]);
    assert.deepEqual([all.code, one.code, all.stderr, one.stderr], [0, 0, '', '']);
    for (const command of ['serve', 'migrate', 'demo', 'listen', 'trigger', 'tenant', 'keys']) {
      assert.match(all.stdout, new RegExp(`^ +${command}\\b`, 'm'));
    }
    assert.match(one.stdout, /--only <part>/);
  });

  it('roomservice --version prints only the version of package.json and exits 0, even if an environment variable is wrong', async () => {
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'));
    const { code, stdout, stderr } = await runCommand(['--version'], { env: { PORT: 'x' } });
    assert.deepEqual([code, stdout, stderr], [0, `${version}\n`, '']);
  });

  it('serve exits 1 and prints one line that names the variable if an environment variable is wrong', async () => {
    const wrong: [string, Record<string, string>][] = [
      ['PORT', { PORT: '80 80' }],
      ['WEBHOOK_ALLOW_PRIVATE_NETWORK', { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'yes' }],
      ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
      ['MASTER_KEY', { DATABASE_URL: 'postgres://nobody@127.0.0.1/nothing' }],
      ['MASTER_KEY_FILE', { MASTER_KEY_FILE: '/dev/null/key' }],
    ];
    const ends = await Promise.all(wrong.map(([, faulty]) => runCommand(['serve'], { env: { ...env, ...faulty } })));
    ends.forEach(({ code, stdout, stderr }, index) => {
      assert.equal(code, 1);
      assert.equal(stdout, '');
      assert.match(stderr, new RegExp(`^roomservice: ${wrong[index]?.[0]} .+\\n$`));
    });
  });

  it('a command warns of an environment variable that looks misspelled, before the error that the misspelling causes', async () => {
    const faulty = { ...env, DATABSE_URL: 'postgres://someone:hidden-word@db/house', HOSTNAME: 'container' };
    const { code, stdout, stderr } = await runCommand(['trigger', 'order.status_changed'], { env: faulty });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /^roomservice: DATABSE_URL is set, and has no effect\. Did you mean DATABASE_URL\?\nroomservice: There is no database/,
    );
    assert.doesNotMatch(stderr, /hidden-word|HOSTNAME/);
  });

  it('if three migrate commands run at the same time, all exit 0, but only one migrates the database and lists the migrations', async () => {
    const ends = await Promise.all(Array.from({ length: 3 }, () => runCommand(['migrate'], { env })));
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0, 0],
      ends.map(({ stderr }) => stderr).join(''),
    );
    const applied = ends.filter(({ stdout }) => /^Applied: 0001_schema\n$/.test(stdout));
    const upToDate = ends.filter(({ stdout }) => stdout === 'The database is up to date.\n');
    assert.deepEqual([applied.length, upToDate.length], [1, 2]);
    assert.equal(await postgresPid(env['DATA_DIR'] ?? ''), 0);
  });

  it('migrate, tenant list and serve work with a database that a newer version has migrated, and say that it is newer', async () => {
    const database = await createTestDatabase();
    const onDatabase = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') };
    await sql`INSERT INTO kysely_migration VALUES ('9999_newer', '')`.execute(database.db);
    try {
      for (const args of [['migrate'], ['tenant', 'list']]) {
        const { code, stderr } = await runCommand(args, { env: onDatabase });
        assert.deepEqual(
          [code, stderr.split(' This version')[0]],
          [0, 'The database was migrated by a newer version (9999_newer).'],
        );
      }
      const serving = await startServing(['--only', 'api'], { env: onDatabase });
      await untilReady(serving);
      serving.kill('SIGTERM');
      await serving.ended;
      assert.match(serving.output(), /"level":40.*was migrated by a newer version \(9999_newer\)/);
    } finally {
      await database.drop();
    }
  });
});
