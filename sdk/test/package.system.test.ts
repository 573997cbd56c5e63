import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Running } from '../../scripts/running.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { VERSION } from '../src/version.ts';
import { type PartnerTenant, openPartnerTenant } from './partner-tenant.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const SDK = join(REPOSITORY, 'sdk');
const TIMEOUT_MS = 30_000;
const run = promisify(execFile);

/** Program that uses the package under the name `sdk`. Each test adds a first line that loads the package by `import` or by `require`. */
const USE = `
const roomservice = new sdk.Roomservice({
  baseUrl: process.env.BASE, apiKey: process.env.KEY, apiSecret: process.env.SECRET,
});
const call = async () => {
  const dishes = await roomservice.menu.list();
  const error = await roomservice.orders.get('none').catch((reason) => reason);
  const refused = (() => { try { sdk.verifyWebhook('{}', {}, 'x'); } catch (reason) { return reason.reason; } })();
  const orders = [];
  for await (const order of roomservice.orders.list()) orders.push(order);
  console.log(JSON.stringify([dishes.length, error instanceof sdk.RoomserviceError && error.code, refused, orders]));
};
call();
`;
const USED = '[2,"order_not_found","missing_header",[]]\n';

/**
 * Program for the TypeScript compiler. It compiles only if the types of the SDK accept all its correct lines. Each line after a
 * `@ts-expect-error` must be a type error.
 */
const TYPED = `
const roomservice = new Roomservice({ baseUrl: 'https://example.com', apiKey: 'k', apiSecret: 's', timeoutMs: 1 });
export async function check(request: { headers: NodeJS.Dict<string | string[]> }): Promise<string> {
  const order = await roomservice.orders.create({ external_order_id: '1', items: [{ item_id: 'a', quantity: 1 }] });
  const isReplayed: boolean = order.isReplayed;
  // @ts-expect-error -- a quantity must be a number
  await roomservice.orders.create({ external_order_id: '1', items: [{ item_id: 'a', quantity: '1' }] });
  // @ts-expect-error -- an order has no such status
  if (order.status === 'eaten') return '';
  for await (const { reservation_id } of roomservice.reservations.list({ page_size: 5 })) return reservation_id;
  const delivered: WebhookEvent | WebhookTest = verifyWebhook(Buffer.from(''), request.headers, ['a', 'b'], { toleranceSeconds: 1 });
  if (delivered.event === 'test') return delivered.event_id;
  const event: WebhookEvent = delivered;
  // @ts-expect-error -- only order events have this field, and the code has not checked the type of this event
  String(event.data.external_order_id);
  try {
    await new RoomservicePms({ baseUrl: 'https://example.com', apiKey: 'k', apiSecret: 's' }).properties();
  } catch (error) {
    if (error instanceof RoomserviceError && error.code === 'rate_limited') return String(error.retryAfterSeconds);
  }
  return event.event === 'order.status_changed' ? event.data.external_order_id + String(isReplayed) : '';
}
`;
const NAMES = 'Roomservice, RoomserviceError, RoomservicePms, verifyWebhook, type WebhookEvent, type WebhookTest';

let service: TestService;
let tenant: PartnerTenant;
let folder: string;
let project: string;
let environment: Record<string, string>;

before(async () => {
  [service, folder] = await Promise.all([
    startService({ worker: true }),
    realpath(await mkdtemp(join(tmpdir(), 'roomservice-sdk-'))),
  ]);
  tenant = await openPartnerTenant(service);
  const { api_key: KEY, api_secret: SECRET } = tenant.credential;
  environment = { PATH: process.env['PATH'] ?? '', HOME: folder, BASE: service.url, KEY, SECRET };
  project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "commonjs" }\n');
  await run('npm', ['pack', '--pack-destination', folder], { env: environment, cwd: SDK });
  const tarball = join(folder, `roomservice-hub-sdk-${VERSION}.tgz`);
  await run('npm', ['install', tarball, '--offline', '--no-audit', '--no-fund'], { env: environment, cwd: project });
});

after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** Returns the path of a Node 20 or 22 that is installed on the system. Returns undefined if there is no such Node. */
function olderNode(): string | undefined {
  return ['/usr/local/bin/node', '/usr/bin/node'].find((path) => {
    try {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      return /^v2[02]\./.test(version);
    } catch {
      return false;
    }
  });
}

async function output(node: string, file: string): Promise<string> {
  const { stdout, stderr } = await run(node, [file], { cwd: project, env: environment });
  assert.equal(stderr, '');
  return stdout;
}

describe('the package in a project without other dependencies', () => {
  test('the package contains only compiled code, README, licence and package.json, and installs no other package', async () => {
    const lock: unknown = JSON.parse(await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8'));
    assert.ok(typeof lock === 'object' && lock !== null && 'packages' in lock);
    assert.deepEqual(Object.keys(lock.packages ?? {}), ['node_modules/@roomservice-hub/sdk']);
    const { stdout } = await run('tar', ['-tzf', join(folder, `roomservice-hub-sdk-${VERSION}.tgz`)]);
    const paths = stdout.trim().split('\n');
    const unexpected = paths.filter((path) => !/^package\/(?:dist\/|README\.md$|LICENSE$|package\.json$)/.test(path));
    assert.deepEqual(unexpected, []);
    assert.equal(await readFile(join(SDK, 'LICENSE'), 'utf8'), await readFile(join(REPOSITORY, 'LICENSE'), 'utf8'));
  });

  for (const [kind, file, line] of [
    ['import', 'use.mjs', "import * as sdk from '@roomservice-hub/sdk';"],
    ['require', 'use.cjs', "const sdk = require('@roomservice-hub/sdk');"],
  ] as const) {
    for (const [version, node] of [
      ['this Node', process.execPath],
      ['Node 20 or 22', olderNode()],
    ] as const) {
      const skip = node === undefined && 'This system has no Node 20 or 22 in /usr/local/bin or /usr/bin.';
      test(`a program on ${version} can load the package by ${kind} and call the service`, { skip }, async () => {
        await writeFile(join(project, file), line + USE);
        assert.equal(await output(node ?? '', file), USED);
      });
    }
  }

  for (const [kind, file] of [
    ['import', 'typed.mts'],
    ['require', 'typed.cts'],
  ] as const) {
    test(`if the package is loaded by ${kind}, TypeScript finds its types and reports code that does not match these types`, async () => {
      await writeFile(join(project, file), `import { ${NAMES} } from '@roomservice-hub/sdk';\n${TYPED}`);
      await mkdir(join(project, 'node_modules/@types'), { recursive: true });
      for (const name of ['@types/node', 'undici-types']) {
        const link = join(project, 'node_modules', name);
        // The tests for `import` and `require` make the same link. If the link exists, `symlink` fails, and the test ignores the error.
        await symlink(join(REPOSITORY, 'node_modules', name), link).catch(() => {});
      }
      const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
      const options = ['--module', 'node16', '--moduleResolution', 'node16', '--strict', '--noEmit', '--types', 'node'];
      const result = await run(process.execPath, [tsc, ...options, file], { cwd: project }).catch(
        (error: { stdout: string }) => error,
      );
      assert.equal(result.stdout, '');
    });
  }
});

describe('the quick start example', () => {
  const source = join(SDK, 'examples/quick-start.ts');

  test('the README and the SDK guide contain the exact text of the quick start, which has fewer than 30 lines', async () => {
    const code = await readFile(source, 'utf8');
    assert.ok(code.trimEnd().split('\n').length < 30);
    for (const page of ['sdk/README.md', 'docs/guides/sdk.md']) {
      const text = await readFile(join(REPOSITORY, page), 'utf8');
      assert.ok(text.includes(`\n\`\`\`ts\n${code}\`\`\`\n`), page);
    }
  });

  test('the quick start runs as JavaScript, orders a dish, books a stay, accepts a webhook and logs why it refuses a changed one', async () => {
    await copyFile(source, join(project, 'quick-start.mjs'));
    const receiver = await startReceiver();
    const { webhook_secret: secret } = await tenant.client().webhook.register({ webhook_url: receiver.url });
    const port = await freePort();
    const ownEnvironment = { ...environment, WEBHOOK_SECRET: secret, PORT: String(port) };
    const quickStart = new Running(`"${olderNode() ?? process.execPath}" quick-start.mjs`, {
      cwd: project,
      environment: ownEnvironment,
    });
    try {
      await quickStart.waitFor(/^sdk-order-1 \(Margherita\) is pending$/m, TIMEOUT_MS);
      await quickStart.waitFor(/^sdk-stay-1 \(Double\) is confirmed$/m, TIMEOUT_MS);
      const [delivery] = await receiver.waitFor(1);
      assert.ok(delivery);
      // The service sends deliveries only by HTTPS, but the example program (the quick start) accepts only plain HTTP. So the service sends
      // the delivery to an HTTPS receiver that this test has started. The test then forwards the delivery from this receiver to the
      // program.
      const forward = async (body: Buffer) => {
        const headers = Object.entries(delivery.headers).filter(([name]) => name.startsWith('x-'));
        const init = {
          method: 'POST',
          headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
        };
        return (await fetch(`http://127.0.0.1:${port}/`, { ...init, body: new Uint8Array(body) })).status;
      };
      assert.equal(await reached(() => forward(delivery.rawBody)), 204);
      await quickStart.waitFor(/^reservation\.created: confirmed$/m, TIMEOUT_MS);
      assert.equal(await forward(Buffer.concat([delivery.rawBody, Buffer.from(' ')])), 401);
      await quickStart.waitFor(/^WebhookVerificationError: The delivery was signed with another secret/m, TIMEOUT_MS);
    } finally {
      quickStart.signal('SIGKILL');
      await quickStart.ended;
      await receiver.close();
    }
  });
});

/**
 * Repeats a call to the example program (the quick start) for at most 30 s, until it succeeds. The test waits for the line that the program
 * prints about its booking. The program begins to listen shortly after this line, so the first calls may fail.
 */
async function reached<T>(call: () => Promise<T>): Promise<T> {
  for (const deadlineMs = Date.now() + TIMEOUT_MS; ; ) {
    try {
      return await call();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await sleep(20);
    }
  }
}
