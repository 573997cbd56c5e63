import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  cleanUp,
  newDataDir,
  postgresPid,
  refuse,
  type Serving,
  startServing,
  stop,
  succeed,
  untilReady,
} from '#test/support/command.ts';
import { freePort } from '#test/support/free-port.ts';
import { isRunning } from '#test/support/process.ts';
import { call } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { addDays, todayIn } from '#platform/lib/dates.ts';

const OWNER = 'owner@demo.example';
const FRONT_DESK = 'front-desk@demo.example';
const KITCHEN = 'kitchen@demo.example';
const TIME_ZONE = 'Europe/Lisbon';
const WARNING =
  /"level":40,[^\n]*"msg":"other machines can reach this service, and it uses the embedded PostgreSQL; docs\/operating\/embedded-database\.md/g;

/** These tests share one DATA_DIR and run in order. Each test continues from the state that the previous test leaves. */
describe('serve on its embedded database', () => {
  let env: Record<string, string>;
  let dataDir: string;
  let serving: Serving;
  let password: string;
  let demoKey: Record<string, string>;
  /** Possible days of arrival of the demo stay: the day after the start, of which there are two if midnight passes during the start. */
  let arrivals: string[];

  before(async () => {
    dataDir = await newDataDir();
    env = { DATA_DIR: dataDir, METRICS_PORT: String(await freePort()) };
    const dayBefore = todayIn(TIME_ZONE);
    serving = await startServing(['--demo'], { env });
    await serving.prints(/The README shows the next steps/);
    arrivals = [dayBefore, todayIn(TIME_ZONE)].map((day) => addDays(day, 1));
  });
  after(cleanUp);

  async function get(path: string, email: string) {
    const signedIn = await call(serving.url, 'POST', '/v1/auth/token/', { json: { email, password } });
    assert.equal(signedIn.status, 200, email);
    const headers = { authorization: `Bearer ${signedIn.body.access_token}` };
    return (await call(serving.url, 'GET', `/v1/staff/${path}`, { headers })).body;
  }

  const orders = async (headers: Record<string, string>) =>
    (await call(serving.url, 'GET', '/v1/third-party/orders/', { headers })).status;

  /** Checks that the demo tenant is there once, with its three people and its one stay. */
  async function checkOnce(): Promise<void> {
    const { stdout } = await succeed(['tenant', 'list'], { env });
    assert.match(stdout, /^\d+\tdemo\tHarbour House\thotel, restaurant\n$/);
    const people = (await get('people/', OWNER)) as { email: string }[];
    assert.deepEqual(people.map(({ email }) => email).sort(), [FRONT_DESK, KITCHEN, OWNER]);
    assert.equal((await get('reservations/', FRONT_DESK)).results.length, 1);
  }

  it('serve --demo prints its address, and the e-mails and the password of the owner and of the staff of two areas each', async () => {
    assert.match(serving.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    [, password = ''] = /Owner +owner@demo\.example\s+Password +(\S+)/.exec(serving.output()) ?? [];
    for (const [email, role, areas] of [
      [OWNER, 'owner', ['orders', 'menu', 'hotel', 'rates', 'deliveries']],
      [FRONT_DESK, 'staff', ['hotel', 'rates']],
      [KITCHEN, 'staff', ['orders', 'menu']],
    ] as const) {
      assert.ok(role === 'owner' || serving.output().includes(`Staff     ${email}, with the same password`), email);
      const { person, tenant } = await get('me/', email);
      assert.deepEqual([person.role, person.areas, tenant.name], [role, areas, 'Harbour House']);
    }
  });

  it('serve --demo prints a curl command that a shell can run, and the same values as shell exports', async (t) => {
    const [line = ''] = /^ *curl .*$/m.exec(serving.output()) ?? [];
    demoKey = Object.fromEntries([...line.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => [name, value]));
    assert.deepEqual(Object.keys(demoKey), ['X-API-Key', 'X-API-Secret']);
    const exported = `export BASE=${serving.url} KEY=${demoKey['X-API-Key']} SECRET=${demoKey['X-API-Secret']}`;
    assert.ok(serving.output().includes(exported));
    assert.equal(await orders(demoKey), 200);
    const run = await promisify(execFile)('sh', ['-c', line], { maxBuffer: 16 * 1024 * 1024 }).catch(
      (error: { code: number }) => error,
    );
    if ('code' in run && run.code === 127) {
      t.skip('There is no curl on PATH.');
      return;
    }
    assert.ok('stdout' in run, JSON.stringify(run));
    assert.ok((JSON.parse(run.stdout) as unknown[]).length > 100);
  });

  it('the demo tenant has one stay, which the front desk has booked, and which arrives on the next day', async () => {
    const [{ source, check_in, check_out, guest, room_type_id }, ...others] = (await get('reservations/', FRONT_DESK))
      .results;
    assert.deepEqual([source, guest.name, others], ['house', 'Beatriz Nunes', []]);
    assert.ok(arrivals.includes(check_in), check_in);
    assert.equal(check_out, addDays(check_in, 2));
    const night = await get(`nights/${room_type_id}/${check_in}/`, FRONT_DESK);
    assert.deepEqual([night.held, night.history[0].by.name], [1, 'Inês Duarte']);
  });

  it('serve exposes metrics for Prometheus on METRICS_PORT only', async () => {
    const answer = await fetch(`http://127.0.0.1:${env['METRICS_PORT']}/metrics`);
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers.get('content-type')), /^text\/plain/);
    const text = await answer.text();
    assert.match(text, /^# TYPE http_request_duration_seconds histogram$/m);
    assert.match(text, /^http_request_duration_seconds_count\{.*route="\/v1\/third-party\/orders\/".*\} \d+$/m);
    assert.match(text, /^# TYPE webhook_attempts_total counter$/m);
    assert.equal((await fetch(`${serving.url}/metrics`)).status, 404);
  });

  it('a second serve on the same DATA_DIR exits 1 with one line of error, and the first serve continues to run', async () => {
    const message = /^roomservice: Another "serve" already runs on this DATA_DIR \(.+\)\. .+\n$/;
    await refuse(['serve'], { env: { DATA_DIR: dataDir } }, message);
    await untilReady(serving);
  });

  it('while serve runs, migrate finds nothing to do, and demo gives new passwords and a new credential beside the earlier one', async () => {
    assert.equal((await succeed(['migrate'], { env })).stdout, 'The database is up to date.\n');
    const { owner, staff, credential } = JSON.parse((await succeed(['demo', '--json'], { env })).stdout);
    assert.notEqual(owner.password, password);
    password = owner.password;
    assert.deepEqual(
      [owner, ...staff],
      [OWNER, FRONT_DESK, KITCHEN].map((email) => ({ email, password })),
    );
    assert.deepEqual(Object.keys(credential), ['id', 'label', 'api_key', 'api_secret']);
    assert.equal(await orders({ 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret }), 200);
    assert.equal(await orders(demoKey), 200);
    await checkOnce();
  });

  it('serve exits 0 on SIGTERM and stops its PostgreSQL; it warns of an address that other machines can reach, but not of localhost', async () => {
    const pid = await postgresPid(dataDir);
    assert.ok(isRunning(pid));
    const { stdout } = await stop(serving);
    await eventually(() => !isRunning(pid), 'end of PostgreSQL');
    assert.doesNotMatch(stdout, WARNING);
    const outside = await startServing([], { env: { DATA_DIR: dataDir, HOST: '0.0.0.0' } });
    assert.equal([...(await stop(outside)).stdout.matchAll(WARNING)].length, 1);
  });

  it('if serve --demo starts again on the same DATA_DIR, the demo credential stays valid, and it adds no tenant, person or stay', async () => {
    serving = await startServing(['--demo'], { env });
    await serving.prints(/npx roomservice demo/);
    assert.doesNotMatch(serving.output(), /Password|X-API-Secret/);
    assert.equal(await orders(demoKey), 200);
    await checkOnce();
    serving.kill('SIGINT');
    assert.equal((await serving.ended).code, 0);
  });

  it('if no serve runs, demo starts PostgreSQL itself and stops it; it prints no port 0 and no address of all interfaces', async () => {
    for (const [set, printed] of [
      [{ PORT: '0', HOST: '::' }, 'http://[::1]:PORT'],
      [{ PORT: '80', HOST: '0.0.0.0' }, 'http://127.0.0.1:80'],
      [{ PORT: '0', PUBLIC_URL: 'https://rooms.example.com' }, 'https://rooms.example.com'],
    ] as const) {
      const { stdout } = await succeed(['demo'], { env: { ...env, ...set } });
      assert.ok(stdout.includes(`export BASE=${printed} `), stdout);
    }
    assert.equal(await postgresPid(dataDir), 0);
  });
});
