/**
 * Installs the npm package as an operator does: `npm pack`, then `npm install --global`, then `roomservice serve --demo` in an empty
 * folder. Then places an order. npm downloads only the packages that are not in its cache. All files are in a temporary folder.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cleanUp, newFolder } from '../test/support/command.ts';
import { Running } from './running.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const INSTALL_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 120_000;

const folder = await newFolder();
const prefix = join(folder, 'prefix');
const empty = await newFolder();
/**
 * PATH that begins with the commands of the installed package. Folders in node_modules are left out of PATH, because they contain the
 * commands of this checkout.
 */
const path = [join(prefix, 'bin'), ...(process.env['PATH'] ?? '').split(delimiter)]
  .filter((each) => !each.includes('node_modules'))
  .join(delimiter);

async function main(): Promise<void> {
  const startedAt = performance.now();
  try {
    const tarball = pack();
    npm(['install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', tarball], folder);
    console.log(`package: installed in ${secondsSince(startedAt)} s`);
    await serveFromEmptyFolder();
    console.log(`package: ok (${secondsSince(startedAt)} s)`);
  } finally {
    await cleanUp();
  }
}

function pack(): string {
  const output = npm(['pack', '--json', '--pack-destination', folder], REPOSITORY);
  const [packed] = JSON.parse(output) as { filename: string; size: number }[];
  assert.ok(packed);
  console.log(`package: ${packed.filename}, ${Math.ceil(packed.size / 1024)} KiB`);
  return join(folder, packed.filename);
}

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, {
    cwd,
    env: { ...process.env, npm_config_update_notifier: 'false', npm_config_loglevel: 'error' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/** Starts the installed command in the empty folder, places an order with the printed credential, and stops the command. */
async function serveFromEmptyFolder(): Promise<void> {
  const environment = { PATH: path, HOME: empty, PORT: '0' };
  const serving = new Running('exec roomservice serve --demo', { cwd: empty, environment });
  try {
    const [, base, key = '', secret = ''] = await serving.waitFor(
      /export BASE=(\S+) KEY=(\S+) SECRET=(\S+)/,
      START_TIMEOUT_MS,
    );
    const response = await fetch(`${base}/v1/third-party/orders/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-api-secret': secret },
      body: JSON.stringify({ external_order_id: 'packed', items: [{ item_id: 'STARTERS-PAPADOM', quantity: 1 }] }),
    });
    assert.equal(response.status, 201, await response.text());
    serving.signal('SIGTERM');
    assert.equal(await serving.ended, 0, serving.output.slice(-2_000));
    assert.deepEqual(await readdir(empty), ['data'], 'the command wrote other files than its data');
  } finally {
    serving.signal('SIGKILL');
    await serving.ended;
  }
}

function secondsSince(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}

await main();
