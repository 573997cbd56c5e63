import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  cleanUp,
  newDataDir,
  postgresPid,
  runCommand,
  type Serving,
  startServing,
  untilReady,
} from '#test/support/command.ts';
import { freePort } from '#test/support/free-port.ts';
import { isRunning } from '#test/support/process.ts';
import { eventually } from '#test/support/webhooks.ts';

/** These tests share one DATA_DIR and run in order. Each test continues from the state that the previous test leaves. */
describe('serve on its embedded database', () => {
  let env: Record<string, string>;
  let dataDir: string;
  let serving: Serving;
  let demoKey: Record<string, string>;

  before(async () => {
    dataDir = await newDataDir();
    env = { DATA_DIR: dataDir, METRICS_PORT: String(await freePort()) };
    serving = await startServing(['--demo'], { env });
    await serving.prints(/The README shows the next steps/);
  });
  after(cleanUp);

  it('serve --demo prints its address, and the e-mail and password with which the demo owner can sign in', async () => {
    assert.match(serving.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const [, email, password] = /Owner +(\S+)\s+Password +(\S+)/.exec(serving.output()) ?? [];
    const answer = await fetch(`${serving.url}/v1/auth/token/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    assert.equal(answer.status, 200);
    const session = (await answer.json()) as { role: string; tenant: { name: string } };
    assert.deepEqual([session.role, session.tenant.name], ['owner', 'Harbour House']);
  });

  it('serve --demo prints a curl command whose URL and headers are valid, and the same values as shell exports', async () => {
    const [line = ''] = /^ *curl .*$/m.exec(serving.output()) ?? [];
    const [, url = ''] = / (http:\S+)/.exec(line) ?? [];
    const headers = [...line.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name = '', value = '']) => [name, value]);
    demoKey = Object.fromEntries(headers);
    assert.deepEqual(Object.keys(demoKey), ['X-API-Key', 'X-API-Secret']);
    const answer = await fetch(url, { headers: demoKey });
    assert.equal(answer.status, 200);
    const dishes = (await answer.json()) as unknown[];
    assert.ok(dishes.length > 100);
    const exported = `export BASE=${serving.url} KEY=${demoKey['X-API-Key']} SECRET=${demoKey['X-API-Secret']}`;
    assert.ok(serving.output().includes(exported));
  });

  it('a shell can run the curl command that serve --demo prints', async (t) => {
    const [line = ''] = /^ *curl .*$/m.exec(serving.output()) ?? [];
    const run = await promisify(execFile)('sh', ['-c', line], { maxBuffer: 16 * 1024 * 1024 }).catch(
      (error: { code: number }) => error,
    );
    if ('code' in run && run.code === 127) {
      t.skip('There is no curl on PATH.');
      return;
    }
    assert.ok('stdout' in run, JSON.stringify(run));
    assert.ok(Array.isArray(JSON.parse(run.stdout)));
  });

  it('200: GET /livez and GET /readyz report ok', async () => {
    await untilReady(serving);
    for (const path of ['/livez', '/readyz']) {
      const answer = await fetch(serving.url + path);
      assert.deepEqual([answer.status, await answer.json()], [200, { status: 'ok' }]);
    }
  });

  it('serve logs a request as a JSON line with the request id that the caller sent, and never logs the API secret', async () => {
    const answer = await fetch(`${serving.url}/v1/third-party/menu/?page=1`, {
      headers: { ...demoKey, 'x-request-id': 'find-me' },
    });
    assert.equal(answer.headers.get('x-request-id'), 'find-me');
    const [text] = await serving.prints(/^.*"request_id":"find-me".*$/m);
    const line = JSON.parse(text) as Record<string, unknown>;
    const { method, path, status, request_id: requestId } = line;
    assert.deepEqual([method, path, status, requestId], ['GET', '/v1/third-party/menu/', 200, 'find-me']);
    const lines = serving.output().split('\n');
    const logged = lines.filter((one) => one.startsWith('{'));
    assert.ok(logged.every((one) => typeof JSON.parse(one) === 'object'));
    assert.ok(logged.every((one) => !one.includes(demoKey['X-API-Secret'] ?? '-')));
  });

  it('serve exposes metrics for Prometheus on METRICS_PORT only', async () => {
    const answer = await fetch(`http://127.0.0.1:${env['METRICS_PORT']}/metrics`);
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers.get('content-type')), /^text\/plain/);
    const text = await answer.text();
    assert.match(text, /^# TYPE http_request_duration_seconds histogram$/m);
    assert.match(text, /^http_request_duration_seconds_count\{.*route="\/v1\/third-party\/menu\/".*\} \d+$/m);
    assert.match(text, /^webhook_attempts_total|^# TYPE webhook_attempts_total counter$/m);
    assert.equal((await fetch(`${serving.url}/metrics`)).status, 404);
  });

  it('a second serve on the same DATA_DIR exits 1 with one line of error, and the first serve continues to run', async () => {
    const second = await runCommand(['serve'], { env: { DATA_DIR: dataDir } });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^roomservice: Another "serve" already runs on this DATA_DIR \(.+\)\. .+\n$/);
    assert.doesNotMatch(second.stdout, /listens/);
    await untilReady(serving);
  });

  it('the commands tenant list, migrate and demo succeed while serve runs, and an earlier demo credential stays valid', async () => {
    const [list, migrated, demo] = await Promise.all([
      runCommand(['tenant', 'list', '--json'], { env }),
      runCommand(['migrate'], { env }),
      runCommand(['demo', '--json'], { env }),
    ]);
    assert.deepEqual([list.code, migrated.code, demo.code], [0, 0, 0], list.stderr + migrated.stderr + demo.stderr);
    assert.deepEqual(
      (JSON.parse(list.stdout) as { slug: string }[]).map(({ slug }) => slug),
      ['demo'],
    );
    assert.equal(migrated.stdout, 'The database is up to date.\n');
    const { owner, credential } = JSON.parse(demo.stdout);
    assert.deepEqual(Object.keys(owner), ['email', 'password']);
    assert.deepEqual(Object.keys(credential), ['id', 'label', 'api_key', 'api_secret']);
    const headers = { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret };
    assert.equal((await fetch(`${serving.url}/v1/third-party/orders/`, { headers })).status, 200);
    assert.equal((await fetch(`${serving.url}/v1/third-party/orders/`, { headers: demoKey })).status, 200);
  });

  it('serve exits 0 on SIGTERM and stops its PostgreSQL', async () => {
    const pid = await postgresPid(dataDir);
    assert.ok(isRunning(pid));
    serving.kill('SIGTERM');
    const { code, signal } = await serving.ended;
    assert.deepEqual([code, signal], [0, null]);
    await eventually(() => !isRunning(pid), 'end of PostgreSQL');
  });

  it('if serve --demo starts again on the same DATA_DIR, the demo credential stays valid, and no second tenant is created', async () => {
    serving = await startServing(['--demo'], { env });
    await serving.prints(/npx roomservice demo/);
    assert.doesNotMatch(serving.output(), /Password|X-API-Secret/);
    assert.equal((await fetch(`${serving.url}/v1/third-party/orders/`, { headers: demoKey })).status, 200);
    const list = await runCommand(['tenant', 'list'], { env });
    assert.match(list.stdout, /^\d+\tdemo\tHarbour House\thotel, restaurant\n$/);
    serving.kill('SIGINT');
    assert.equal((await serving.ended).code, 0);
  });

  it('if no serve runs, a command starts PostgreSQL itself, and stops it at the end', async () => {
    const list = await runCommand(['tenant', 'list', '--json'], { env });
    assert.equal(list.code, 0, list.stderr);
    assert.equal((JSON.parse(list.stdout) as unknown[]).length, 1);
    assert.equal(list.stderr, '');
    assert.equal(await postgresPid(dataDir), 0);
  });
});
