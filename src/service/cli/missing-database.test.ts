import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  cleanUp,
  newDataDir,
  newFolder,
  postgresPid,
  refuse,
  runCommand,
  startServing,
} from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { sampleTenant } from '#test/support/tenants.ts';
import { noCopies } from '#test/support/test-cluster.ts';

describe('commands on data, and the database that they use', () => {
  let service: TestService;
  let folder: string;
  let commands: string[][];

  before(async () => {
    service = await startService();
    folder = await newFolder();
    const document = join(folder, 'tenant.json');
    await writeFile(document, JSON.stringify(sampleTenant()));
    commands = [
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

  it('if DATA_DIR has no database, each command exits 1, names the folder, both variables and the first command, and makes nothing', async () => {
    const dataDir = await newDataDir();
    const ofOthers = await newFolder();
    await writeFile(join(ofOthers, 'master-key'), 'x');
    await mkdir(join(ofOthers, 'letters'));
    // A start that was interrupted while it made the database leaves its password.
    const unfinished = await newFolder();
    await writeFile(join(unfinished, 'postgres-password'), 'x', { mode: 0o600 });
    for (const command of [...commands, ['move', '--to', service.database.url]]) {
      await refuse(
        command,
        { env: { DATA_DIR: dataDir } },
        new RegExp(
          `^roomservice: There is no database in ${dataDir} \\(DATA_DIR\\)\\. Set DATA_DIR or DATABASE_URL to .+ "roomservice migrate" first\\.\n$`,
        ),
      );
    }
    for (const other of [ofOthers, unfinished]) {
      const names = await readdir(other);
      await refuse(['tenant', 'list'], { env: { DATA_DIR: other } }, /There is no database in /);
      assert.deepEqual(await readdir(other), names);
    }
    await assert.rejects(stat(dataDir), { code: 'ENOENT' });
  });

  it('if the database of DATABASE_URL is empty, each command exits 1, says to run migrate, and makes no table', async (t) => {
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await sql.raw(`CREATE DATABASE ${name}`).execute(service.database.db);
    t.after(() => sql.raw(`DROP DATABASE ${name} WITH (FORCE)`).execute(service.database.db));
    const url = new URL(service.database.url);
    url.pathname = `/${name}`;
    const env = { ...envOf(service), DATABASE_URL: url.href };
    for (const command of commands) {
      await refuse(
        command,
        { env },
        /^roomservice: The database .+(?:no tables|lacks a table) of Roomservice.+ DATABASE_URL .+"roomservice migrate" first\.\n$/,
      );
    }
    const { stdout } = await runCommand(['migrate'], { env });
    assert.match(stdout, /^Applied: 0001_schema\n$/, 'no earlier command has migrated the database');
  });

  it('each command says on stderr which database it uses, and prints only JSON on stdout with --json', {
    skip: noCopies,
  }, async () => {
    const dataDir = await newMigratedDataDir();
    const url = new URL(service.database.url);
    const host = decodeURIComponent(url.hostname);
    const ofServer = `Database: ${host}:${url.port || 5432}${url.pathname} (DATABASE_URL)`;
    for (const [env, line] of [
      [{ DATA_DIR: dataDir }, `Database: ${dataDir} (DATA_DIR)`],
      [envOf(service), ofServer],
    ] as const) {
      for (const [index, command] of [
        ['tenant', 'list'],
        ['backup', join(folder, line.length + '.backup')],
      ].entries()) {
        const { code, stdout, stderr, database } = await runCommand([...command, '--json'], { env });
        assert.deepEqual([code, stderr, database], [0, '', line]);
        assert.equal(typeof JSON.parse(stdout), 'object', `${index}`);
      }
      assert.equal((await runCommand(['migrate'], { env })).database, line);
    }
    const serving = await startServing(['--only', 'api'], { env: envOf(service) });
    assert.ok(serving.output().includes(ofServer), serving.output());
    serving.kill('SIGTERM');
    await serving.ended;
  });

  it('tenant list on a migrated DATA_DIR without tenants says how to create one, and stops the PostgreSQL that it started', async () => {
    const dataDir = await newMigratedDataDir();
    const { code, stdout, stderr } = await runCommand(['tenant', 'list'], { env: { DATA_DIR: dataDir } });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /tenant apply/);
    assert.equal(await postgresPid(dataDir), 0);
  });
});
