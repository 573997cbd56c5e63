import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { generateKeyPairSync } from 'node:crypto';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { createClient } from 'redis';
import { inspectConfig } from '#platform/config.ts';
import { SETTINGS } from '#platform/settings.ts';
import {
  cleanUp,
  clusterDirOf,
  newDataDir,
  newFolder,
  postgresPid,
  runCommand,
  startServing,
  stop,
} from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { createRedis, findRedis } from '#test/support/redis.ts';
import { countTables, createEmptyDatabase } from '#test/support/database.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { startMailServer } from '#test/support/smtp.ts';
import { type Try, tryServers } from './config.ts';

/** Tries the servers of a configuration, as `config check` does. Checks that no text shows a password of the tests. */
async function tryWith(env: Record<string, string>): Promise<Record<Try['what'], Try & { text: string }>> {
  const tries = await tryServers(inspectConfig(env));
  assert.doesNotMatch(JSON.stringify(tries), /hunter2|correct-word/);
  return Object.fromEntries(
    tries.map((each) => [each.what, { ...each, text: [...each.details, ...each.faults].join(' ') }]),
  ) as Record<Try['what'], Try & { text: string }>;
}

function assertTry({ faults, text }: Try & { text: string }, isFaulty: boolean, expected: RegExp): void {
  assert.match(text, expected);
  assert.equal(faults.length > 0, isFaulty, text);
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

/** Starts a server in place of an identity provider. @returns the URL for AUTH_JWKS_URL */
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
    const env = { DATA_DIR: await newDataDir(), PORT: '', HOST: '::', METRIC_PORT: '1', METRICS_PORT: '8080' };
    const { code, stdout, stderr } = await runCommand(['config', 'check', '--json'], { env });
    const { ok, variables, warnings, tries } = JSON.parse(stdout);
    assert.deepEqual([ok, code, stderr, warnings], [false, 1, '', []]);
    const byName: Record<string, { value: string; source: string; fault: string }> = Object.fromEntries(
      variables.map(({ name, ...variable }: { name: string }) => [name, variable]),
    );
    assert.deepEqual(
      Object.keys(byName),
      SETTINGS.map(({ name }) => name),
    );
    assert.deepEqual([byName['HOST']?.value, byName['HOST']?.source], ['::', 'environment']);
    assert.equal(byName['METRICS_PORT']?.fault, 'METRICS_PORT must differ from PORT, which is 8080');
    const tried = tries.map((each: { what: string; tried: boolean }) => `${each.what} ${each.tried}`);
    assert.deepEqual(tried, ['database true', 'redis false', 'jwks false', 'smtp false']);
  });
});

describe('roomservice config check: DATABASE_URL', () => {
  let service: TestService;
  let env: Record<string, string>;
  before(async () => {
    service = await startService();
    env = envOf(service);
  });
  after(() => service.close());

  it('a database with all migrations and the right MASTER_KEY has no fault, also if a newer version has migrated it', async () => {
    const usable = /^It is PostgreSQL \d+\.\d+\. It has all migrations\. The master key unwraps its keys\.$/;
    assertTry((await tryWith(env)).database, false, usable);
    await sql`INSERT INTO kysely_migration VALUES ('9999_newer', '')`.execute(service.database.db);
    const { database } = await tryWith(env);
    await sql`DELETE FROM kysely_migration WHERE name = '9999_newer'`.execute(service.database.db);
    assertTry(database, false, /The database was migrated by a newer version \(9999_newer\)\./);
  });

  it('a wrong master key is a fault', async () => {
    const { database } = await tryWith({ ...env, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') });
    assertTry(database, true, /The master key cannot decrypt the keys in this database\./);
  });

  it('an empty database has no fault, and stays empty', async (t) => {
    const url = await createEmptyDatabase(t, service.database);
    const { database } = await tryWith({ ...env, DATABASE_URL: url.href });
    assertTry(database, false, /It lacks migrations \(0001_\w+.*\)\. .+ It has no keys yet\./);
    assert.equal(await countTables(url), 0);
  });
});

describe('roomservice config check: embedded database', () => {
  async function snapshot(folder: string): Promise<string[]> {
    const paths = (await readdir(folder, { recursive: true })).sort();
    return await Promise.all(paths.map(async (path) => `${path} ${(await stat(join(folder, path))).mtimeMs}`));
  }

  it('a running and a stopped database in DATA_DIR have no fault, and nothing changes there', async () => {
    const dataDir = await newMigratedDataDir();
    const env = { DATA_DIR: dataDir };
    const serving = await startServing(['--only', 'api'], { env });
    const { database: running } = await tryWith(env);
    assertTry(
      running,
      false,
      /contains a database of PostgreSQL 18\. It runs\. It is PostgreSQL 18\.\d+\. It has all migrations\. The master key unwraps its keys\.$/,
    );
    const key = await readFile(join(dataDir, 'master-key'), 'utf8');
    const password = await readFile(join(dataDir, 'postgres-password'), 'utf8');
    assert.ok(!running.text.includes(key.trim()) && !running.text.includes(password.trim()));
    await stop(serving);

    const untouched = await snapshot(dataDir);
    assertTry((await tryWith(env)).database, false, /of PostgreSQL 18\. It does not run now/);
    assert.deepEqual(await snapshot(dataDir), untouched);
    assert.equal(await postgresPid(dataDir), 0);
  });

  it('it is a fault if DATA_DIR is a file, has a database of PostgreSQL 17 in place of 18, or lacks the master key or the database password', async () => {
    const dataDir = await newMigratedDataDir();
    const assertFault = async (folder: string, expected: RegExp) =>
      assertTry((await tryWith({ DATA_DIR: folder })).database, true, expected);
    const file = join(dirname(dataDir), 'file');
    await writeFile(file, '');
    await assertFault(file, /cannot be used \(ENOTDIR\)/);
    await assertFault(join(file, 'below'), /cannot be used \(ENOTDIR\)/);
    const masterKey = join(dataDir, 'master-key');
    await rename(masterKey, `${masterKey}.kept`);
    await assertFault(dataDir, /master-key is missing, and MASTER_KEY is not set\. Restore the file/);
    await rename(`${masterKey}.kept`, masterKey);
    const version = join(await clusterDirOf(dataDir), 'PG_VERSION');
    await writeFile(version, '17\n');
    await assertFault(
      dataDir,
      /PostgreSQL 17 made the database .* has PostgreSQL 18\. Run "roomservice backup" with .* "roomservice restore"/,
    );
    await writeFile(version, '18\n');
    await rm(join(dataDir, 'postgres-password'));
    await assertFault(dataDir, /postgres-password with its password is missing\. Restore the file\./);
  });
});

describe('roomservice config check: other servers', () => {
  const program = findRedis();
  it('a Redis that responds has no fault and gets no key, and a Redis that refuses the password or does not run is a fault', {
    skip: program === undefined && 'this machine has no redis-server and no valkey-server',
  }, async (t) => {
    const redis = await createRedis(program ?? '', ['--requirepass', 'correct-word']);
    t.after(() => redis.close());
    await redis.start();
    const urlWith = (password: string) => redis.url.replace('//', `//:${password}@`);
    const tryRedis = async (password: string) => (await tryWith({ REDIS_URL: urlWith(password) })).redis;
    assertTry(await tryRedis('correct-word'), false, /^It responds\.$/);
    assertTry(await tryRedis('hunter2'), true, /^Redis cannot be used \(WRONGPASS .+\)\. Check REDIS_URL/);
    const client = createClient({ url: urlWith('correct-word') });
    await client.connect();
    assert.equal(await client.dbSize(), 0);
    client.destroy();
    await redis.kill();
    assertTry(await tryRedis('correct-word'), true, /^Redis cannot be used \(.*ECONNREFUSED.*\)/);
  });

  it('an identity provider without a usable key, or with an error, is a fault', async (t) => {
    const tryKeys = async (url: string) => (await tryWith({ ...PROVIDER, AUTH_JWKS_URL: url })).jwks;
    const secretKey = { kty: 'oct', k: 'AQAB' };
    const good = await startKeyServer(t, 200, { keys: [RSA_KEY, secretKey] });
    const empty = await startKeyServer(t, 200, { keys: [secretKey] });
    const faulty = await startKeyServer(t, 404, { keys: [RSA_KEY] });
    assertTry(await tryKeys(good), false, /^http:\/\/127\.0\.0\.1:\d+ has 1 key that can verify a token\.$/);
    assertTry(await tryKeys(empty), true, /contains no key that can verify a token/);
    assertTry(await tryKeys(faulty), true, /cannot be fetched from .+ \(it responds with 404\)/);
    const gone = /cannot be fetched from http:\/\/127\.0\.0\.1:1 \(.+\)\. Check AUTH_JWKS_URL/;
    assertTry(await tryKeys('http://127.0.0.1:1/keys'), true, gone);
  });

  it('a mail server that accepts the login has no fault and gets no mail, and one that refuses it or is unreachable is a fault', async (t) => {
    const server = await startMailServer({ login: { username: 'house', password: 'hunter2' } });
    t.after(() => server.close());
    const mail = { MAIL_FROM: 'house@mail.example', PUBLIC_URL: 'https://api.example' };
    const tryMail = async (url: string) => (await tryWith({ ...mail, SMTP_URL: url })).smtp;
    const accepts = new RegExp(`^127\\.0\\.0\\.1:${server.port} accepts the login\\.$`);
    assertTry(await tryMail(server.url), false, accepts);
    const wrong = server.url.replace('hunter2', 'hunter22');
    assertTry(await tryMail(wrong), true, /cannot be used \(Invalid login: .+\)\. Check SMTP_URL, /);
    const gone = /The mail server 127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*\)/;
    assertTry(await tryMail('smtp://house:hunter2@127.0.0.1:1'), true, gone);
    assert.deepEqual(server.mails, []);
  });

  it('if database, Redis, identity provider and mail server do not respond, config check tries them at the same time, for 5 s, and exits 1 with a fault of each', async (t) => {
    const silent = createServer();
    const address = `127.0.0.1:${await listen(t, silent)}`;
    // The time begins at the first connection, because the start of the command takes several seconds on a busy machine.
    const connected = once(silent, 'connection').then(() => performance.now());
    const env = {
      ...PROVIDER,
      DATABASE_URL: `postgres://someone:hunter2@${address}/house`,
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
      REDIS_URL: `redis://:hunter2@${address}`,
      AUTH_JWKS_URL: `http://${address}/keys`,
      SMTP_URL: `smtp://house:hunter2@${address}`,
      MAIL_FROM: 'house@mail.example',
      PUBLIC_URL: 'https://api.example',
    };
    const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
    const tookMs = performance.now() - (await connected);
    assert.ok(tookMs > 4_500 && tookMs < 12_000, `${tookMs} ms. Four tries of 5 s, one after the other, take 20 s.`);
    assert.equal(code, 1);
    const inTime =
      /\((no response in time|timeout expired|.*timed out|.*[Tt]imeout.*|.*terminated due to connection timeout)\)/;
    for (const what of ['Database', 'Redis', 'Keys of', 'Mail server']) {
      assert.match(stdout.split('\n').find((line) => line.startsWith(what)) ?? '', inTime);
    }
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  });
});
