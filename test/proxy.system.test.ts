import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, startServingProgram } from './support/command.ts';
import { freePort } from './support/free-port.ts';
import { envOf, startService, type TestService, type TestTenant } from './support/service.ts';
import { eventually } from './support/webhooks.ts';

const CADDYFILE = join(import.meta.dirname, '../deploy/Caddyfile');
const ORDERS = '/v1/third-party/orders/';

function isInstalled(): boolean {
  try {
    return execFileSync('caddy', ['version'], { encoding: 'utf8' }) !== '';
  } catch {
    return false;
  }
}

/** These tests run the proxy as deploy/Caddyfile configures it, but without TLS. */
describe('deploy/Caddyfile', { skip: !isInstalled() && 'this machine has no caddy' }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let port: number;
  let proxy: ChildProcess;
  let url: string;
  let log = '';

  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    port = await freePort();
    const [own, admin] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${own}`;
    const folder = await newFolder();
    proxy = spawn('caddy', ['run', '--config', CADDYFILE, '--adapter', 'caddyfile'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        CADDY_ADMIN: `127.0.0.1:${admin}`,
        DOMAIN: url,
        API: `127.0.0.1:${port}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [proxy.stdout, proxy.stderr]) {
      output?.setEncoding('utf8').on('data', (text: string) => (log += text));
    }
    await eventually(() => log.includes('serving initial configuration'), 'start of the proxy');
  });
  after(async () => {
    proxy.kill('SIGTERM');
    await once(proxy, 'close');
    await cleanUp();
    await service.close();
  });

  const errors = () => log.match(/^.*http\.log\.error.*$/gm)?.join('\n');

  const startApi = async () =>
    await startServingProgram(['--only', 'api'], {
      env: { ...envOf(service), PORT: String(port), RATE_LIMIT_PER_MINUTE: '100000', STOP_GRACE: '1' },
    });

  async function place(id: string): Promise<number> {
    const answer = await fetch(url + ORDERS, {
      method: 'POST',
      headers: { ...tenant.partner, 'content-type': 'application/json' },
      body: JSON.stringify({ external_order_id: id, items: [{ item_id: 'PIZZA-1', quantity: 1 }], notes: id }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  it('every order that is placed while the API restarts gets 201, also the orders that arrive while no API runs', async () => {
    const first = await startApi();
    const statuses: number[] = [];
    let isOver = false;
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      for (let round = 0; !isOver; round += 1) {
        statuses.push(await place(`${lane}-${round}`));
      }
    });
    await eventually(() => statuses.length > 20, 'orders before the restart');
    first.kill('SIGTERM');
    await first.ended;
    const inTheGap = Array.from({ length: 20 }, (_, index) => place(`gap-${index}`));
    const second = await startApi();
    assert.deepEqual(new Set(await Promise.all(inTheGap)), new Set([201]), errors());
    const placed = statuses.length;
    await eventually(() => statuses.length > placed + 20, 'orders after the restart');
    isOver = true;
    await Promise.all(lanes);
    assert.deepEqual(new Set(statuses), new Set([201]), errors());
    // The proxy sends some bodies again. None of them became the body of another call.
    const { db } = service.database;
    const orders = await db.selectFrom('restaurant_order').select(['external_order_id', 'notes']).execute();
    assert.equal(orders.length, statuses.length + inTheGap.length);
    assert.ok(orders.every(({ external_order_id: id, notes }) => notes === id));
    second.kill('SIGTERM');
    await second.ended;
  });

  it('the logs of the proxy show calls and errors, but no header', async () => {
    const api = createServer((request, response) => {
      if (request.url === '/cut') {
        request.socket.destroy();
      } else {
        response.setHeader('set-cookie', 'session=hidden').setHeader('x-hidden', 'hidden').end();
      }
    });
    api.listen(port, '127.0.0.1');
    await once(api, 'listening');
    const names = ['x-api-key', 'x-api-secret', 'x-pms-api-secret', 'x-service-signature', 'authorization', 'cookie'];
    const headers = Object.fromEntries(names.map((name) => [name, `hidden ${name}`]));
    const statuses = [];
    for (const path of ['/cut', '/seen']) {
      const answer = await fetch(url + path, { method: 'POST', headers, body: 'hidden' });
      statuses.push(answer.status);
    }
    assert.deepEqual(statuses, [502, 200]);
    await eventually(
      () => /"logger":"http\.log\.error.*\/cut/.test(log) && /"logger":"http\.log\.access.*\/seen/.test(log),
      'log lines',
    );
    assert.ok(!log.includes('hidden'), log);
    assert.ok(!log.includes(tenant.partner['x-api-secret'] ?? ''));
    api.closeAllConnections();
    api.close();
  });
});
