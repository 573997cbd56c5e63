/**
 * Runs the first steps of a new user with the real commands: start the receiver and the service, read the menu with curl, place an order,
 * verify a signed webhook, kill the service, stop all commands. If a command prints the next command, the test runs it exactly as printed.
 * All files are in a temporary folder, and the commands listen on ports that are free on this machine.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostmaster } from '#platform/db/embedded/postmaster.ts';
import { cleanUp, clusterDirOf, newFolder } from '../test/support/command.ts';
import { Running } from './running.ts';

const ORDER = 'smoke-1';
const REPOSITORY = join(import.meta.dirname, '..');
const START_TIMEOUT_MS = 120_000;
const ARRIVAL_TIMEOUT_MS = 30_000;
/** Time within which the service guarantees to exit after SIGTERM. */
const STOP_TIMEOUT_MS = 15_000;

interface Printed {
  base: string;
  key: string;
  secret: string;
  curl: string;
  email: string;
  password: string;
}

const folder = await newFolder();
const dataDir = join(folder, 'data');
const environment: Record<string, string> = {
  // When npm runs this script, the PATH begins with folders in node_modules. One of these folders contains another Node version. A new user
  // does not have these folders in the PATH. So the script removes these folders from the PATH. Each command then starts with the Node
  // version that is installed on the machine.
  PATH: (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .join(delimiter),
  HOME: process.env['HOME'] ?? folder,
  npm_config_update_notifier: 'false',
  PORT: '0',
  DATA_DIR: dataDir,
  RECEIVER_DIR: join(folder, 'receiver'),
};
const started: Running[] = [];

async function main(): Promise<void> {
  const startedAt = performance.now();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void endAll().finally(() => process.exit(1)));
  }
  try {
    await walk();
    console.log(`smoke: ok (${secondsSince(startedAt)} s)`);
  } catch (error) {
    console.error(`smoke: FAILED\n${error instanceof Error ? error.message : String(error)}`);
    console.error(started.map((each) => `\n== ${each.command}\n${each.output.slice(-2_000)}`).join(''));
    process.exitCode = 1;
  } finally {
    await endAll();
  }
}

async function walk(): Promise<void> {
  const startCommand = await step('the receiver makes its certificate', prepareReceiver);
  const [service, printed] = await step('the service starts', () => startFirst(startCommand));
  const sku = await step('the printed curl reads the menu', () => readMenu(printed));
  await step('an order is placed', () => placeOrder(printed, sku));
  const receiver = await step('the receiver registers itself', () => startReceiver(printed));
  await step('a signed event of the status arrives', () => moveAlong(printed, receiver, 'preparing'));
  const [secondService, base] = await step('the service is killed and starts again', () =>
    killAndStart(service, startCommand),
  );
  await step('the order is still there', () => checkOrder({ ...printed, base }, 'preparing'));
  await step('a signed event of the next status arrives', () => moveAlong({ ...printed, base }, receiver, 'ready'));
  await step('SIGTERM stops everything', () => stopAll([secondService, receiver]));
}

async function step<T>(name: string, action: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    const result = await action();
    console.log(`ok     ${name.padEnd(40)} ${secondsSince(startedAt)} s`);
    return result;
  } catch (error) {
    console.log(`FAILED ${name.padEnd(40)} ${secondsSince(startedAt)} s`);
    throw error;
  }
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

function run(command: string, variables: Record<string, string> = {}): Running {
  const running = new Running(command, { cwd: REPOSITORY, environment: { ...environment, ...variables } });
  started.push(running);
  return running;
}

/**
 * Runs the receiver until it has made its certificate.
 * @returns the command that starts the service, as the receiver prints it
 */
async function prepareReceiver(): Promise<string> {
  const receiver = run('npm run receiver');
  const [, command = ''] = await receiver.waitFor(/^ {2}(WEBHOOK_\S+ NODE_\S+ npm start)$/m, ARRIVAL_TIMEOUT_MS);
  assert.equal(await receiver.ended, 0, 'the receiver without a credential did not exit with code 0');
  return command;
}

async function startFirst(command: string): Promise<[Running, Printed]> {
  const service = run(command);
  const [, curl = ''] = await service.waitFor(/^ {2}(curl .+)$/m, START_TIMEOUT_MS);
  const [, base = '', key = '', secret = ''] = await service.waitFor(
    /^ {2}export BASE=(\S+) KEY=(\S+) SECRET=(\S+)$/m,
    0,
  );
  const [, email = '', password = ''] = await service.waitFor(/^ {2}Owner +(\S+)\n {2}Password +(\S+)$/m, 0);
  return [service, { base, key, secret, curl, email, password }];
}

/**
 * Reads the menu with the curl command that the service printed. If curl is not installed, reads the same URL without curl.
 * @returns the SKU of a dish
 */
async function readMenu(printed: Printed): Promise<string> {
  const menu = hasCurl()
    ? JSON.parse(execFileSync('sh', ['-c', printed.curl], { env: environment, encoding: 'utf8', maxBuffer: 1 << 26 }))
    : await call('GET', `${printed.base}/v1/third-party/menu/`, keysOf(printed));
  const [dish] = menu as { sku: string }[];
  assert.ok(dish !== undefined, 'the menu has no dish');
  return dish.sku;
}

function hasCurl(): boolean {
  return spawnSync('curl', ['--version'], { env: environment, stdio: 'ignore' }).status === 0;
}

async function placeOrder(printed: Printed, sku: string): Promise<void> {
  const order = { external_order_id: ORDER, items: [{ item_id: sku, quantity: 2 }] };
  await call('POST', `${printed.base}/v1/third-party/orders/`, keysOf(printed), order);
}

async function checkOrder(printed: Printed, status: string): Promise<void> {
  const order = await call('GET', `${printed.base}/v1/third-party/orders/${ORDER}/`, keysOf(printed));
  assert.equal((order as { status: string }).status, status);
}

async function startReceiver({ base, key, secret }: Printed): Promise<Running> {
  const receiver = run('npm run receiver', { BASE: base, KEY: key, SECRET: secret });
  await receiver.waitFor(/^Receiving on /m, ARRIVAL_TIMEOUT_MS);
  return receiver;
}

/** Sets the status of the order as the owner. Then waits until the receiver has verified the event of this change. */
async function moveAlong({ base, email, password }: Printed, receiver: Running, status: string): Promise<void> {
  const token = await call('POST', `${base}/v1/auth/token/`, {}, { email, password });
  const owner = { authorization: `Bearer ${(token as { access_token: string }).access_token}` };
  const { results } = (await call('GET', `${base}/v1/staff/orders/?limit=1`, owner)) as {
    results: { order_id: string }[];
  };
  const [order] = results;
  await call('POST', `${base}/v1/staff/orders/${order?.order_id}/status/`, owner, { status });
  const line = new RegExp(`^verified order\\.status_changed "${ORDER}" status ${status}$`, 'm');
  await receiver.waitFor(line, ARRIVAL_TIMEOUT_MS);
}

async function killAndStart(service: Running, command: string): Promise<[Running, string]> {
  service.signal('SIGKILL');
  await service.ended;
  const next = run(command);
  const [, base = ''] = await next.waitFor(/Roomservice listens on (http:[^\s"]+)/, START_TIMEOUT_MS);
  return [next, base];
}

async function stopAll(running: Running[]): Promise<void> {
  for (const each of running) {
    each.signal('SIGTERM');
  }
  const ended = Promise.all(running.map((each) => each.ended)).then(() => true);
  const inTime = await Promise.race([ended, sleep(STOP_TIMEOUT_MS, false, { ref: false })]);
  assert.ok(inTime, `a process still runs ${STOP_TIMEOUT_MS / 1000} s after SIGTERM`);
  assert.equal(
    await findPostmaster(await clusterDirOf(dataDir)),
    undefined,
    'PostgreSQL still runs after the end of the service',
  );
}

function keysOf({ key, secret }: Printed): Record<string, string> {
  return { 'x-api-key': key, 'x-api-secret': secret };
}

async function call(method: string, url: string, headers: Record<string, string>, json?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(ARRIVAL_TIMEOUT_MS),
    headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function endAll(): Promise<void> {
  for (const each of started) {
    each.signal('SIGKILL');
  }
  await cleanUp();
}

await main();
