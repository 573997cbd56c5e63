import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  cleanUp,
  type Ended,
  newCertificateFile,
  newDataDir,
  runCommand,
  runProgram,
  startProgram,
  startServing,
  stop,
} from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type FilledDataDir, fillDataDir } from '#test/support/filled-data-dir.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { eventually, isSignedWith } from '#test/support/webhooks.ts';
import { noCopies } from '#test/support/test-cluster.ts';

/** Number of events of the filled DATA_DIR: three confirmed orders and two booked stays. */
const EVENTS = 5;

describe('roomservice move', { skip: noCopies }, () => {
  let receiver: Receiver;
  let filled: FilledDataDir;
  let env: Record<string, string>;
  let marker: string;
  const targets: TestDatabase[] = [];
  before(async () => {
    const { certificate, path } = await newCertificateFile();
    receiver = await startReceiver({ certificate });
    filled = await fillDataDir(receiver, path);
    env = { ...filled.env, DATA_DIR: filled.dataDir };
    marker = join(filled.dataDir, 'moved-to');
  });
  after(async () => {
    await cleanUp();
    await receiver.close();
    await Promise.all(targets.map((target) => target.drop()));
  });

  async function newTarget(): Promise<TestDatabase> {
    const target = await createTestDatabase();
    targets.push(target);
    return target;
  }
  const move = (to: string, more: Record<string, string> = {}, ...args: string[]) =>
    runCommand(['move', '--to', to, ...args], { env: { ...env, ...more } });
  const hasMarker = () => existsSync(marker);
  const assertRefused = ({ code, stdout, stderr }: Ended, message: RegExp) => {
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
    assert.match(stderr, /^roomservice: [^\n]+\n$/);
    assert.doesNotMatch(stderr, /hidden-word/);
  };
  const orderCount = async ({ db }: TestDatabase) =>
    (await sql<{ count: number }>`SELECT count(*) AS count FROM restaurant_order`.execute(db)).rows[0]?.count;

  it('if the target is unreachable or not empty, or a setting is wrong, move names the fault without a password, and writes no file moved-to', async () => {
    const full = await newTarget();
    await sql`INSERT INTO tenant (slug, name, currency, timezone, features) VALUES ('x', 'X', 'EUR', 'UTC', '{hotel}')`.execute(
      full.db,
    );
    const nowhere = 'postgres://someone:hidden-word@127.0.0.1:1/nowhere';
    const key = { MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };

    assertRefused(
      await move(nowhere),
      /The database at 127\.0\.0\.1:1 is out of reach \(ECONNREFUSED\)\. Check the host and the port in --to, .* Nothing was moved\./,
    );
    assertRefused(await move(full.url), /database is not empty: there are rows in tenant/);
    assertRefused(await move(nowhere, { DATABASE_URL: nowhere, ...key }), /DATABASE_URL is set/);
    assertRefused(await move(nowhere, { DATA_DIR: await newDataDir() }), /There is no database in/);
    assertRefused(await move(nowhere, key), /The master key cannot decrypt the keys in this database/);
    for (const to of ['mysql://someone:hidden-word@127.0.0.1/x', 'hidden-word']) {
      const { code, stdout, stderr } = await move(to);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^error: --to must be a URL such as postgres:/);
      assert.doesNotMatch(stderr, /hidden-word/);
    }
    assert.equal((await runCommand(['move'], { env })).code, 2);
    assert.equal(hasMarker(), false);
  });

  it('move is refused while serve runs on the same DATA_DIR', async () => {
    const serving = await startServing([], { env });
    const target = await newTarget();
    assertRefused(await move(target.url), /Another process uses the data in .*"roomservice serve"\. Stop it/);
    await stop(serving);
    assert.equal(await orderCount(target), 0);
  });

  it('move is rolled back if the new database loses a copied dish, or stores another number of held rooms for a night', async () => {
    const target = await newTarget();
    await onInsert(target, 'dish', `IF NEW.sku = 'STARTERS-PAPADOM' THEN RETURN NULL; END IF; RETURN NEW;`);
    assertRefused(
      await move(target.url),
      /The copy of the table dish differs from the old table \(copy: \d+ rows, old table: \d+ rows\)\. The copy was rolled back/,
    );
    await sql`DROP TRIGGER at_insert ON dish`.execute(target.db);
    await onInsert(target, 'night', 'NEW.held = NEW.held + 1; RETURN NEW;');
    assertRefused(await move(target.url), /The copy of the table night differs from the old table/);
    assert.deepEqual([await orderCount(target), hasMarker()], [0, false]);
  });

  it('while a move runs, serve and commands on the DATA_DIR are refused; a killed move can run again, and then serve on the target has all data and secrets', async () => {
    const target = await newTarget();
    // The copy stops after five dishes, so it is still under way when the test kills it, even if the other commands take long.
    await sql`CREATE SEQUENCE inserted_dishes`.execute(target.db);
    await onInsert(target, 'dish', `IF nextval('inserted_dishes') > 5 THEN PERFORM pg_sleep(600); END IF; RETURN NEW;`);
    const killed = startProgram(['move', '--to', target.url], { env });
    await copying(target);
    const others = [['serve'], ['tenant', 'list'], ['backup', join(filled.dataDir, '..', 'backup.tar')]];
    for (const other of await Promise.all(others.map((args) => runCommand(args, { env })))) {
      assertRefused(
        other,
        /Another command, for example "roomservice move", must be the only process that uses the data in /,
      );
    }
    killed.kill('SIGKILL');
    assert.equal((await killed.ended).signal, 'SIGKILL');
    assert.equal(hasMarker(), false);
    assert.match(killed.output(), /^Database: \S+ \(DATA_DIR\)\n$/);
    // The trigger `at_insert` still makes the insert of a dish wait. Until it ends, the database server does not notice that the client is
    // gone. The next line ends the transaction.
    await terminateTransfer(target);

    await sql`DROP TRIGGER at_insert ON dish`.execute(target.db);
    await sql`DROP SEQUENCE inserted_dishes`.execute(target.db);
    const url = new URL(target.url);
    const { password } = url;
    url.password = '';
    // The library pg reads PGPASSWORD from the variables of its process.
    const withPassword = { env: { ...env, PGPASSWORD: decodeURIComponent(password) } };
    const { code, stdout, stderr } = await runProgram(['move', '--to', url.href], withPassword);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Moved all data to .* \(rows: \d+, tenants: 1, orders: 3, reservations: 3\)\.\n/);
    assert.match(stdout, /: 7 nights, 0 of them differ\.\n/);
    const [, keyFile = ''] = /\n {2}MASTER_KEY_FILE=(\S+)\n/.exec(stdout) ?? [];
    const masterKey = (await readFile(join(filled.dataDir, 'master-key'), 'utf8')).trim();
    for (const secret of [password, masterKey]) {
      assert.ok(!stdout.includes(secret) && !(await readFile(marker, 'utf8')).includes(secret));
    }
    await assertServes(target, keyFile);
  });

  async function assertServes(target: TestDatabase, keyFile: string): Promise<void> {
    const serving = await startServing([], {
      env: { ...filled.env, DATABASE_URL: target.url, MASTER_KEY_FILE: keyFile },
    });
    const client = await filled.connect(serving.url);
    assert.deepEqual(await filled.look(client), filled.seen);
    const rest = await client.partner('GET', `/v1/third-party/events/?after=${filled.cursor}`);
    assert.equal(rest.status, 200, rest.text);
    assert.equal(rest.body.results.length, EVENTS - 2, 'the cursor of before the move continues');

    await client.causeEvent();
    const request = (await receiver.waitFor(EVENTS + 1)).at(-1);
    assert.ok(request && isSignedWith(filled.webhookSecret, request));
    const next = await client.partner('GET', `/v1/third-party/events/?after=${rest.body.next}`);
    assert.equal(next.body.results.length, 1);
    await stop(serving);
    const nights = await runCommand(['nights', 'verify'], {
      env: { DATABASE_URL: target.url, MASTER_KEY_FILE: keyFile },
    });
    assert.deepEqual([nights.code, nights.stdout], [0, 'demo: 7 nights checked, 0 with a wrong counter\n']);
  }

  it('after a move, serve, other commands and a second move refuse the old DATA_DIR until its file `moved-to` is removed', async () => {
    const target = await newTarget();
    for (const args of [['serve'], ['tenant', 'list'], ['backup', 'b.tar'], ['move', '--to', target.url]]) {
      assertRefused(
        await runCommand(args, { env }),
        /was moved to the database .* at 20.*Z\. To use that database, set DATABASE_URL .* To use the old data again, which lacks all changes since the move, remove .*moved-to\./,
      );
    }
    const check = await runCommand(['config', 'check'], { env });
    assert.equal(check.code, 1);
    assert.match(check.stdout, /was moved to the database/);
    await rm(marker);
    const { code, stdout } = await runCommand(['nights', 'verify'], { env });
    assert.deepEqual([code, stdout], [0, 'demo: 7 nights checked, 0 with a wrong counter\n']);
  });

  it('if a move is killed during its commit, the old data is refused, and a second move to this database says that it has the data', async () => {
    const target = await newTarget();
    await slowCommit(target, 4);
    const killed = startProgram(['move', '--to', target.url], { env });
    await waitForCommit(target);
    killed.kill('SIGKILL');
    await killed.ended;
    assertRefused(await runCommand(['serve'], { env }), /was moved to the database .* run "roomservice move" again/);
    const other = await newTarget();
    assertRefused(await move(other.url), /was moved to the database/);
    assertRefused(await move(target.url), /was moved to the database/);
    assert.deepEqual([await orderCount(target), await orderCount(other)], [3, 0]);
    await rm(marker);
  });

  it('if a move loses its connection during the commit, it says that its outcome is unknown, and a second move loads the data if the commit failed', async () => {
    const target = await newTarget();
    await slowCommit(target, 4);
    const failing = move(target.url);
    await waitForCommit(target);
    await terminateTransfer(target);
    assertRefused(
      await failing,
      /cannot do the work \(.+\)\. .+ It is unknown if the move was committed\. Run the command again\./,
    );
    assert.deepEqual([await orderCount(target), hasMarker()], [0, true]);

    const { code, stdout, stderr } = await move(target.url, {}, '--json');
    assert.deepEqual([code, stderr], [0, '']);
    const { rows, nights, wrong_nights, data_dir } = JSON.parse(stdout);
    assert.deepEqual([rows.restaurant_order, nights, wrong_nights, data_dir], [3, 7, 0, filled.dataDir]);
    assert.equal(await orderCount(target), 3);
    await rm(marker);
  });
});

/** Makes a trigger that runs the PL/pgSQL code `body` before each insert into a table. */
async function onInsert({ db }: TestDatabase, table: string, body: string): Promise<void> {
  await sql`CREATE OR REPLACE FUNCTION at_insert() RETURNS trigger LANGUAGE plpgsql AS ${sql.lit(`BEGIN ${body} END`)}`.execute(
    db,
  );
  await sql`CREATE TRIGGER at_insert BEFORE INSERT ON ${sql.ref(table)} FOR EACH ROW EXECUTE FUNCTION at_insert()`.execute(
    db,
  );
}

async function slowCommit({ db }: TestDatabase, seconds: number): Promise<void> {
  await sql`CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
    ${sql.lit(`BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END`)}`.execute(db);
  await sql`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON tenant
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()`.execute(db);
}

/**
 * Waits until the server runs the COMMIT of a move. The test cannot wait for the file `moved-to`, because this file appears before the
 * COMMIT begins.
 */
async function waitForCommit({ db }: TestDatabase): Promise<void> {
  const isCommitting = async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'roomservice copy' AND state = 'active' AND query = 'COMMIT'`.execute(db);
    return rows.length > 0;
  };
  await eventually(isCommitting, 'COMMIT of the move', 60_000);
}

async function terminateTransfer({ db }: TestDatabase): Promise<void> {
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'roomservice copy'`.execute(db);
}

/** Waits until a copy of a table into the database is under way and has copied more than three rows. */
async function copying({ db }: TestDatabase): Promise<void> {
  await eventually(
    async () => {
      const { rows } =
        await sql`SELECT FROM pg_stat_progress_copy WHERE datname = current_database() AND tuples_processed > 3`.execute(
          db,
        );
      return rows.length > 0;
    },
    'rows that are being copied',
    60_000,
  );
}
