import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { createClient } from 'redis';
import { createDatabase } from '#platform/db/database.ts';
import { SETTINGS } from '#platform/settings.ts';
import {
  cleanUp,
  clusterDirOf,
  newDataDir,
  newFolder,
  postgresPid,
  runCommand,
  startServing,
} from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { createRedis, findRedis } from '#test/support/redis.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { startMailServer } from '#test/support/smtp.ts';

interface Report {
  ok: boolean;
  variables: { name: string; value: string | null; source: string; file: string | null; fault: string | null }[];
  warnings: string[];
  tries: { what: string; tried: boolean; details: string[]; faults: string[] }[];
}

/** Runs `config check --json`. By default, `runCommand` sets PORT to 0. This function passes an empty PORT, which counts as not set. */
async function check(env: Record<string, string>): Promise<Report & { code: number | null; output: string }> {
  const { code, stdout, stderr } = await runCommand(['config', 'check', '--json'], { env: { PORT: '', ...env } });
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Report), code, output: stdout };
}

function tryOf({ tries }: Report, what: string) {
  const found = tries.find((each) => each.what === what);
  assert.ok(found, what);
  return { ...found, details: found.details.join(' '), faults: found.faults.join(' ') };
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Starts a server that takes the place of an identity provider. It responds to each request with `status` and `body`.
 * @returns the URL on this server for AUTH_JWKS_URL, from which the command fetches the public keys of the provider
 */
async function startKeyServer(t: TestContext, status: number, body: unknown): Promise<string> {
  const server = createHttpServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  return `http://127.0.0.1:${await listen(t, server)}/keys`;
}

const PROVIDER = { AUTH_ISSUER: 'https://id.example/', AUTH_AUDIENCE: 'roomservice' };
const RSA_KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' });

after(cleanUp);

describe('roomservice config check: variables', () => {
  it('config check shows the source and meaning of each variable, suggests the right name of a misspelled one, and exits 0', async () => {
    const dataDir = await newDataDir();
    const keyFile = join(await newFolder(), 'key');
    await writeFile(keyFile, Buffer.alloc(32, 'hunter2').toString('base64'));
    const env = {
      PORT: '',
      DATA_DIR: dataDir,
      MASTER_KEY_FILE: keyFile,
      PUBLIC_URL: 'https://someone:hunter2@api.example/',
      LOG_LEVEL: 'debug',
      DATABSE_URL: 'postgres://someone:hunter2@db/house',
    };
    const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    for (const { name, meaning } of SETTINGS) {
      assert.match(stdout, new RegExp(`^${name}( = .+)? \\((environment|file .+|default|not set)\\)$`, 'm'));
      assert.ok(stdout.includes(`  ${meaning.replaceAll('`', '')}\n`), name);
    }
    for (const line of [
      'PORT = 8080 (default)',
      'LOG_LEVEL = debug (environment)',
      'DATABASE_URL (not set)',
      `MASTER_KEY = (secret) (file ${keyFile})`,
      'PUBLIC_URL = https://…@api.example/ (environment)',
      'DATABSE_URL is set, and has no effect. Did you mean DATABASE_URL?',
      `Database: usable. ${dataDir} contains no database yet. The first start creates it.`,
      'No fault was found.',
    ]) {
      assert.ok(stdout.split('\n').includes(line), `${line}\n${stdout}`);
    }
    assert.doesNotMatch(stdout, /hunter2|aHVudGVyM/);
    await assert.rejects(stat(dataDir), { code: 'ENOENT' });
  });

  it('config check exits 1 and names all faulty variables together, and does not show a faulty secret', async () => {
    const env = { DATA_DIR: await newDataDir(), PORT: 'many', DATABASE_URL: 'mysql://u:hunter2@h', LOG_LEVEL: 'loud' };
    const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^roomservice: The configuration has 4 faults:\n(?: {2}(PORT|DATABASE_URL|MASTER_KEY|LOG_LEVEL) (must|is).+\n){4}$/,
    );
    assert.match(stdout, /^PORT \(environment\)\n.+\n {2}Fault: PORT must be a whole number/m);
    assert.match(stdout, /^Database: not tried\. DATABASE_URL must be correct first\.$/m);
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  });

  it('config check --json prints the same report as JSON, and exits 1 if a variable is faulty', async () => {
    const { ok, code, variables, warnings, tries } = await check({
      DATA_DIR: await newDataDir(),
      HOST: '::',
      METRIC_PORT: '1',
      METRICS_PORT: '8080',
    });
    assert.deepEqual([ok, code], [false, 1]);
    assert.deepEqual(
      variables.map(({ name }) => name),
      SETTINGS.map(({ name }) => name),
    );
    const byName = new Map(variables.map((variable) => [variable.name, variable]));
    assert.deepEqual([byName.get('HOST')?.value, byName.get('HOST')?.source], ['::', 'environment']);
    assert.equal(byName.get('METRICS_PORT')?.fault, 'METRICS_PORT must differ from PORT, which is 8080');
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      tries.map(({ what, tried }) => [what, tried]),
      [
        ['host', true],
        ['database', true],
        ['redis', false],
        ['jwks', false],
        ['smtp', false],
      ],
    );
  });
});

describe('roomservice config check: DATABASE_URL', () => {
  let service: TestService;
  let env: Record<string, string>;
  before(async () => {
    service = await startService();
    env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
  });
  after(() => service.close());

  /** Creates a database without tables, and drops it at the end of the test. @returns its name and URL */
  async function createEmptyDatabase(t: TestContext): Promise<{ name: string; url: URL }> {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await sql.raw(`CREATE DATABASE ${name}`).execute(service.database.db);
    t.after(() => sql.raw(`DROP DATABASE ${name} WITH (FORCE)`).execute(service.database.db));
    const url = new URL(service.database.url);
    url.pathname = `/${name}`;
    return { name, url };
  }

  it('config check of a database with all migrations exits 0, and reports that MASTER_KEY unwraps the service keys', async () => {
    const report = await check(env);
    assert.equal(report.code, 0, report.output);
    const { details } = tryOf(report, 'database');
    assert.match(details, /^It is PostgreSQL \d+\.\d+\. It has all migrations\. The master key unwraps its keys\.$/);
    await sql`INSERT INTO kysely_migration VALUES ('9999_newer', '')`.execute(service.database.db);
    const newer = await check(env);
    await sql`DELETE FROM kysely_migration WHERE name = '9999_newer'`.execute(service.database.db);
    assert.equal(newer.code, 0);
    assert.match(tryOf(newer, 'database').details, /A newer version has migrated it \(9999_newer\)\./);
  });

  it('config check exits 1 and shows no password if the master key is wrong, or the database is unreachable or missing', async () => {
    const unknown = new URL(env['DATABASE_URL'] ?? '');
    unknown.pathname = '/no_such_database';
    const [wrongKey, outOfReach, noDatabase] = await Promise.all([
      check({ ...env, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }),
      check({ ...env, DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/nowhere' }),
      check({ ...env, DATABASE_URL: unknown.href }),
    ]);
    assert.deepEqual([wrongKey.code, outOfReach.code, noDatabase.code], [1, 1, 1]);
    assert.match(tryOf(wrongKey, 'database').faults, /^MASTER_KEY cannot decrypt the keys in this database\./);
    assert.match(
      tryOf(outOfReach, 'database').faults,
      /^The database at 127\.0\.0\.1:1 is out of reach \(ECONNREFUSED\)/,
    );
    assert.match(tryOf(noDatabase, 'database').faults, /database "no_such_database" does not exist/);
    assert.doesNotMatch(outOfReach.output, /hunter2/);
  });

  it('config check of an empty database exits 0, says that migrations are missing, and leaves the database empty', async (t) => {
    const { url } = await createEmptyDatabase(t);
    const report = await check({ ...env, DATABASE_URL: url.href });
    assert.equal(report.code, 0, report.output);
    assert.match(
      tryOf(report, 'database').details,
      /\d+ migrations are missing \(0001_tenants to \d{4}_\w+\)\. .+ It has no keys yet\./,
    );
    const db = createDatabase({ url: url.href, poolSize: 1 });
    const { rows } = await sql`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`.execute(db);
    await db.destroy();
    assert.equal(rows.length, 0);
  });

  it('config check exits 1 if migrations are missing and the user of the database may not create tables', async (t) => {
    const { name, url } = await createEmptyDatabase(t);
    await sql.raw(`CREATE ROLE ${name} LOGIN PASSWORD 'hunter2'`).execute(service.database.db);
    t.after(() => sql.raw(`DROP ROLE ${name}`).execute(service.database.db));
    [url.username, url.password] = [name, 'hunter2'];
    const report = await check({ ...env, DATABASE_URL: url.href });
    assert.equal(report.code, 1);
    assert.match(
      tryOf(report, 'database').faults,
      /^The role test_\w+ may not create tables in the database, and migrations are missing\. .+GRANT CREATE ON SCHEMA public/,
    );
    assert.doesNotMatch(report.output, /hunter2/);
  });

  it('config check exits 1 if the database lacks migrations of this version and has unknown ones', async (t) => {
    const { url } = await createEmptyDatabase(t);
    const db = createDatabase({ url: url.href, poolSize: 1 });
    await sql`CREATE TABLE kysely_migration AS SELECT '9999_other'::text AS name`.execute(db);
    await db.destroy();
    const report = await check({ ...env, DATABASE_URL: url.href });
    assert.equal(report.code, 1);
    assert.match(tryOf(report, 'database').faults, /does not know \(9999_other\), but lacks others \(0001_tenants/);
  });
});

describe('roomservice config check: embedded database', () => {
  /** Returns all paths below a folder with the times of their last changes. */
  async function snapshot(folder: string): Promise<string[]> {
    const paths = (await readdir(folder, { recursive: true })).sort();
    return await Promise.all(paths.map(async (path) => `${path} ${(await stat(join(folder, path))).mtimeMs}`));
  }

  it('config check reports a running and a stopped database in DATA_DIR, and changes nothing there', async () => {
    const dataDir = await newMigratedDataDir();
    const env = { DATA_DIR: dataDir };
    const serving = await startServing(['--only', 'api'], { env });
    const running = await check(env);
    assert.equal(running.code, 0, running.output);
    assert.match(
      tryOf(running, 'database').details,
      /contains a database of PostgreSQL 18\. It runs\. It is PostgreSQL 18\.\d+\. It has all migrations\. The master key unwraps its keys\.$/,
    );
    const key = await readFile(join(dataDir, 'master-key'), 'utf8');
    const password = await readFile(join(dataDir, 'postgres-password'), 'utf8');
    assert.ok(!running.output.includes(key.trim()) && !running.output.includes(password.trim()));
    serving.kill('SIGTERM');
    await serving.ended;

    const untouched = await snapshot(dataDir);
    const stopped = await check(env);
    assert.equal(stopped.code, 0, stopped.output);
    assert.match(tryOf(stopped, 'database').details, /of PostgreSQL 18\. It does not run now/);
    assert.deepEqual(await snapshot(dataDir), untouched);
    assert.equal(await postgresPid(dataDir), 0);
  });

  it('config check exits 1 if DATA_DIR is a file, has a database of PostgreSQL 17 in place of 18, or lacks the master key or the database password', async () => {
    const dataDir = await newMigratedDataDir();
    const file = join(dirname(dataDir), 'file');
    await writeFile(file, '');
    const faultOf = async (folder: string) => {
      const report = await check({ DATA_DIR: folder });
      assert.equal(report.code, 1, report.output);
      return tryOf(report, 'database').faults;
    };
    assert.match(await faultOf(file), /cannot be used \(ENOTDIR\)/);
    assert.match(await faultOf(join(file, 'below')), /cannot be used \(ENOTDIR\)/);
    const masterKey = join(dataDir, 'master-key');
    await rename(masterKey, `${masterKey}.kept`);
    assert.match(await faultOf(dataDir), /master-key is missing, and MASTER_KEY is not set\. Restore the file/);
    await rename(`${masterKey}.kept`, masterKey);
    const version = join(await clusterDirOf(dataDir), 'PG_VERSION');
    await writeFile(version, '17\n');
    assert.match(
      await faultOf(dataDir),
      /PostgreSQL 17 made the database .* has PostgreSQL 18\. Run "roomservice backup" with .* "roomservice restore"/,
    );
    await writeFile(version, '18\n');
    await rm(join(dataDir, 'postgres-password'));
    assert.match(await faultOf(dataDir), /postgres-password with its password is missing\. Restore the file\./);
  });
});

describe('roomservice config check: Redis and JWKS', () => {
  const program = findRedis();

  it('config check exits 0 and adds no key to Redis if Redis responds, and exits 1 if Redis does not run or refuses the password', {
    skip: program === undefined && 'this machine has no redis-server and no valkey-server',
  }, async (t) => {
    const redis = await createRedis(program ?? '', ['--requirepass', 'correct-word']);
    t.after(() => redis.close());
    await redis.start();
    const dataDir = await newDataDir();
    const urlWith = (password: string) => redis.url.replace('//', `//:${password}@`);
    const checkWith = (url: string) => check({ DATA_DIR: dataDir, REDIS_URL: url });
    const [good, refused] = await Promise.all([checkWith(urlWith('correct-word')), checkWith(urlWith('hunter2'))]);
    assert.equal(good.code, 0, good.output);
    assert.equal(tryOf(good, 'redis').details, '1 server responds.');
    assert.equal(refused.code, 1);
    assert.match(tryOf(refused, 'redis').faults, /^Redis cannot be used \(WRONGPASS .+\)\. Check REDIS_URL/);
    const client = createClient({ url: urlWith('correct-word') });
    await client.connect();
    assert.equal(await client.dbSize(), 0);
    client.destroy();
    await redis.kill();
    const gone = await checkWith(urlWith('correct-word'));
    assert.equal(gone.code, 1);
    assert.match(tryOf(gone, 'redis').faults, /^Redis cannot be used \(.*ECONNREFUSED.*\)/);
    assert.doesNotMatch(good.output + refused.output + gone.output, /hunter2|correct-word/);
  });

  it('config check exits 0 if the identity provider has a key, and exits 1 if the provider has no key or sends an error', async (t) => {
    const dataDir = await newDataDir();
    const checkWith = (url: string) => check({ DATA_DIR: dataDir, ...PROVIDER, AUTH_JWKS_URL: url });
    const [good, empty, faulty, gone] = await Promise.all([
      startKeyServer(t, 200, { keys: [RSA_KEY, { kty: 'oct', k: 'AQAB' }] }).then(checkWith),
      startKeyServer(t, 200, { keys: [{ kty: 'oct', k: 'AQAB' }] }).then(checkWith),
      startKeyServer(t, 404, { keys: [RSA_KEY] }).then(checkWith),
      checkWith('http://127.0.0.1:1/keys'),
    ]);
    assert.equal(good.code, 0, good.output);
    assert.match(tryOf(good, 'jwks').details, /^http:\/\/127\.0\.0\.1:\d+ has 1 key that can verify a token\.$/);
    assert.deepEqual([empty.code, faulty.code, gone.code], [1, 1, 1]);
    assert.match(tryOf(empty, 'jwks').faults, /contains no key that can verify a token/);
    assert.match(tryOf(faulty, 'jwks').faults, /cannot be fetched from .+ \(it responds with 404\)/);
    assert.match(
      tryOf(gone, 'jwks').faults,
      /cannot be fetched from http:\/\/127\.0\.0\.1:1 \(.+\)\. Check AUTH_JWKS_URL/,
    );
  });

  it('config check signs in to the mail server, and exits 1 and names the reason if the login is wrong or the server is unreachable', async (t) => {
    const server = await startMailServer({ login: { username: 'house', password: 'hunter2' } });
    t.after(() => server.close());
    const dataDir = await newDataDir();
    const mail = { DATA_DIR: dataDir, MAIL_FROM: 'house@mail.example', PUBLIC_URL: 'https://api.example' };
    const [good, wrong, gone] = await Promise.all(
      [server.url, server.url.replace('hunter2', 'hunter22'), 'smtp://house:hunter2@127.0.0.1:1'].map((url) =>
        check({ ...mail, SMTP_URL: url }),
      ),
    );
    assert.ok(good && wrong && gone);
    assert.deepEqual([good.code, wrong.code, gone.code], [0, 1, 1], good.output);
    assert.equal(tryOf(good, 'smtp').details, `127.0.0.1:${server.port} accepts the login.`);
    assert.match(tryOf(wrong, 'smtp').faults, /cannot be used \(Invalid login: .+\)\. Check SMTP_URL\./);
    assert.match(tryOf(gone, 'smtp').faults, /The mail server 127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*\)/);
    assert.doesNotMatch(good.output + wrong.output + gone.output, /hunter2/);
    assert.deepEqual(server.mails, []);
  });

  it('if database, Redis and identity provider do not respond, config check tries them at the same time, for 5 s, and exits 1 with three faults', async (t) => {
    const silent = createServer();
    const address = `127.0.0.1:${await listen(t, silent)}`;
    // The time begins at the first connection, because the start of the command takes several seconds on a busy machine.
    const connected = once(silent, 'connection').then(() => performance.now());
    const report = await check({
      ...PROVIDER,
      DATABASE_URL: `postgres://someone:hunter2@${address}/house`,
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
      REDIS_URL: `redis://:hunter2@${address}`,
      AUTH_JWKS_URL: `http://${address}/keys`,
    });
    const tookMs = performance.now() - (await connected);
    assert.ok(tookMs > 4_500 && tookMs < 12_000, `${tookMs} ms. Three tries of 5 s, one after the other, take 15 s.`);
    assert.equal(report.code, 1);
    for (const what of ['database', 'redis', 'jwks']) {
      assert.match(
        tryOf(report, what).faults,
        /\((no response in time|timeout expired|.*timed out|.*terminated due to connection timeout)\)/,
      );
    }
    assert.doesNotMatch(report.output, /hunter2/);
  });
});
