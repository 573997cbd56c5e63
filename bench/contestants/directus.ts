import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { callOnce, jsonCall } from '../calls.ts';
import { installPackages } from '../install.ts';
import { withConnection } from '../sql.ts';
import { CONNECTIONS } from '../stand.ts';
import { waitUntil } from '../wait.ts';

export const DIRECTUS_NAME = 'Directus 12.4.0';

/** Running Directus with the collection `orders`, which holds orders with the external ids `stored-1`, `stored-2` and so on. */
export interface Directus {
  url: string;
  /** Headers with the static token of the administrator, for whom Directus checks no permission of a collection or a field. */
  headers: Record<string, string>;
}

const FOLDER = join(import.meta.dirname, '../directus');
const COMMAND = join(FOLDER, 'node_modules/directus/cli.js');
const START_TIMEOUT_MS = 120_000;
const TOKEN = 'token-of-the-administrator-of-a-bench';

const ORDERS = {
  collection: 'orders',
  schema: {},
  // By default, Directus also stores an activity and a revision for each new item.
  meta: { accountability: null },
  fields: [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'external_order_id', type: 'string', schema: { is_unique: true, is_nullable: false } },
    { field: 'status', type: 'string', schema: { is_nullable: false } },
    { field: 'total', type: 'decimal', schema: { numeric_precision: 12, numeric_scale: 2, is_nullable: false } },
    { field: 'items', type: 'json', meta: { special: ['cast-json'] }, schema: { is_nullable: false } },
  ],
};

/**
 * Installs Directus if it is missing, and starts it on an empty database with the options of Node that the service has. Directus runs
 * until the end of the benchmark.
 * @param orders number of orders to store
 * @throws Error if Directus cannot be installed or does not start
 */
export async function openDirectus(
  resources: AsyncDisposableStack,
  databaseUrl: string,
  orders: number,
): Promise<Directus> {
  const interruption = new AbortController();
  resources.defer(() => interruption.abort());
  await installPackages('directus', interruption.signal);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const run = (command: 'bootstrap' | 'start') => startProcess(resources, command, settingsOf(databaseUrl, port));
  const bootstrap = run('bootstrap');
  const [code] = (await once(bootstrap, 'exit')) as [number | null];
  if (code !== 0) {
    throw new Error('Directus did not make its tables. Read its output on stderr.');
  }
  const server = run('start');
  const isReady = async () => {
    if (server.exitCode !== null) {
      throw new Error('Directus ended. Read its output on stderr.');
    }
    const answer = await fetch(`${url}/server/ping`).catch(() => null);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  };
  await waitUntil(isReady, START_TIMEOUT_MS, 'Directus was not ready');
  const headers = { authorization: `Bearer ${TOKEN}` };
  await callOnce(url, jsonCall('/collections', headers, ORDERS));
  await withConnection(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO orders (external_order_id, status, total, items)
       SELECT 'stored-' || number, 'pending', 1, '[{"item_id":"STARTERS-PAPADOM","quantity":1,"price":"1.00"}]'
       FROM generate_series(1, $1::int) AS number`,
      [orders],
    );
    await client.query('VACUUM (ANALYZE) orders');
  });
  return { url, headers };
}

/** Starts a command of Directus. It writes its output to stderr. */
function startProcess(resources: AsyncDisposableStack, command: string, settings: Record<string, string>) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['--max-semi-space-size=16', COMMAND, command], {
    cwd: FOLDER,
    env: { PATH, HOME, MALLOC_MMAP_THRESHOLD_: '65536', ...settings },
    stdio: ['ignore', process.stderr, 'inherit'],
    detached: true, // Its own process group does not receive Ctrl-C. The benchmark receives it, and stops this process.
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').then(() => process.off('exit', kill));
  resources.defer(async () => {
    kill();
    await exited;
  });
  return child;
}

function settingsOf(databaseUrl: string, port: number): Record<string, string> {
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SECRET: 'the secret of a bench, longer than thirty-two bytes',
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: 'the administrator of a bench',
    ADMIN_TOKEN: TOKEN,
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    DB_POOL__MIN: String(CONNECTIONS),
    DB_POOL__MAX: String(CONNECTIONS),
    LOG_LEVEL: 'warn',
    CACHE_ENABLED: 'false',
    // By default, Directus copies the descriptions of all its collections in each call, which halves its speed or worse.
    CACHE_SCHEMA_FREEZE_ENABLED: 'true',
    TELEMETRY: 'false',
    RATE_LIMITER_ENABLED: 'false',
    // It responds with 503 as soon as the event loop is busy.
    PRESSURE_LIMITER_ENABLED: 'false',
    WEBSOCKETS_ENABLED: 'false',
    EMAIL_VERIFY_SETUP: 'false',
  };
}
