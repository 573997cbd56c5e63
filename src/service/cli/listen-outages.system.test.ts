import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { cleanUp, newFolder, refuse, startServingProgram, stop, succeed } from '#test/support/command.ts';
import { freePort } from '#test/support/free-port.ts';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { listenerEnv, startListening, startLocalServer } from '#test/support/listening.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { startService } from '#test/support/service.ts';
import { createMemoryBudgets } from '#platform/http/rate-limit.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';

after(cleanUp);

describe('roomservice listen during a restart of the service', () => {
  let serviceEnv: Record<string, string>;
  let env: Record<string, string>;
  before(async () => {
    serviceEnv = { DATA_DIR: await newMigratedDataDir(), PORT: String(await freePort()) };
    const { stdout } = await succeed(['demo', '--json'], { env: serviceEnv });
    const url = `http://localhost:${serviceEnv['PORT']}`;
    env = listenerEnv(url, JSON.parse(stdout).credential, await newFolder());
  });

  it('listen waits while the service is stopped, then forwards the events that occurred meanwhile, in order and each once', async (t) => {
    const local = await startLocalServer();
    t.after(() => local.close());
    const made: string[] = [];
    const trigger = async (event: string) => {
      made.push(JSON.parse((await succeed(['trigger', event, '--json'], { env: serviceEnv })).stdout).event_id);
    };
    const first = await startServingProgram([], { env: serviceEnv });
    const listening = await startListening(['--forward-to', local.url], env);
    await trigger('order.status_changed');
    await local.waitFor(1);
    await stop(first);
    // The last call of `listen` may use a connection at the moment when the service closes it. The reason is then ECONNRESET.
    await listening.prints(
      /^The service at http:\S+ is out of reach \((?:ECONNREFUSED|ECONNRESET)\)\. Waiting until it is back\.$/m,
    );
    await trigger('order.status_changed');
    await trigger('reservation.created');
    const second = await startServingProgram([], { env: serviceEnv });
    await listening.prints(/^The service is back\. Continuing after the last event that was read\.$/m);
    await trigger('order.status_changed');
    const requests = await local.waitFor(4);
    assert.deepEqual(
      requests.map(({ headers }) => headers['x-service-event-id']),
      made,
    );
    const [outage = ''] = /^The service at.+?is back/ms.exec(listening.output()) ?? [];
    assert.equal(outage.match(/is out of reach/g)?.length, 1, 'one notice for all failed calls');
    listening.kill('SIGINT');
    assert.equal((await listening.ended).code, 0);
    await stop(second);
  });
});

describe('roomservice listen if another server responds in place of the service', () => {
  const NO_PAGES = ['{"results":[', 'null', '{"next":"0"}'];
  const CREDENTIAL = { id: '', label: '', api_key: 'rsk_x', api_secret: 'rss_x' };

  it('if several responses contain no list of events, listen warns only once, and continues when a response has a list again', async (t) => {
    let answered = 0;
    const nextBody = () => NO_PAGES[answered++] ?? '{"results":[],"next":"0"}';
    const url = await serveAnswers(t, 200, nextBody);
    const listening = await startListening([], listenerEnv(url, CREDENTIAL, await newFolder()));
    listening.kill('SIGINT');
    const { code, stderr } = await listening.ended;
    assert.equal(code, 0);
    assert.ok(answered > NO_PAGES.length);
    assert.equal(stderr.match(/is out of reach \(it responds with 200 and without events\)/g)?.length, 1, stderr);
  });

  it('listen exits 1 if the server refuses the call, and prints the response with terminal control characters escaped', async (t) => {
    const url = await serveAnswers(t, 404, () => '\u001b[2Jno such\u001b]0;page\u0007');
    const env = listenerEnv(url, CREDENTIAL, await newFolder());
    const message =
      /responds with the status 404 and without events\. .+ The response is: \\u\{1b\}\[2Jno such\\u\{1b\}\]0;page\\u\{7\}\n$/;
    await refuse(['listen'], { env }, message);
  });
});

describe('roomservice listen after a restore of the service from a backup', () => {
  it('if the service refuses the cursor of listen because of a restore from a backup, listen prints one notice, and then prints new events', async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const tenant = await service.tenant();
    const insert = async () => (await insertEvents(service.database.db, [eventOf(tenant)]))[0] ?? '';
    const listening = await startListening(['--json'], listenerEnv(service.url, tenant.credential, await newFolder()));
    const earlier = await insert();
    await listening.prints(new RegExp(`"event_id":"${earlier}"`));
    await raiseFeedEra(service.database.db);
    await listening.prints(
      /^The service refuses the position in the feed .*restored .*GET \/v1\/third-party\/events\/\.$/m,
    );
    const later = await insert();
    await listening.prints(new RegExp(`"event_id":"${later}"`));
    listening.kill('SIGINT');
    const { code, stdout, stderr } = await listening.ended;
    assert.equal(code, 0);
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event_id),
      [earlier, later],
      'each event is printed once',
    );
    assert.equal(stderr.match(/refuses the position/g)?.length, 1, 'one notice');
  });
});

describe('roomservice listen if the budget of calls is used up', () => {
  it('if the budget of calls is used up, listen prints how many seconds it will wait, and later prints the next event', async (t) => {
    const windowSeconds = 4;
    const budget = (name: string) => createMemoryBudgets(windowSeconds * 1000).budget(name, 2);
    const service = await startService({ budgets: { budget, close: async () => {} } });
    t.after(() => service.close());
    const tenant = await service.tenant();
    const listening = await startListening(['--json'], listenerEnv(service.url, tenant.credential, await newFolder()));
    const [, seconds] = await listening.prints(/budget of calls for this minute is used up\. Continuing in (\d+) s/);
    assert.ok(Number(seconds) >= 1 && Number(seconds) <= windowSeconds, seconds);
    const [id] = await insertEvents(service.database.db, [eventOf(tenant)]);
    await listening.prints(new RegExp(`"event_id":"${id}"`));
    listening.kill('SIGINT');
    assert.equal((await listening.ended).code, 0);
  });
});

/**
 * Starts a server that responds to every request with `status` and with the text that `body` returns. Like the service, the server also
 * sends the header `X-Webhook-Header-Brand`. Its value `Service` means that webhook calls have headers such as `X-Service-Signature`.
 */
async function serveAnswers(t: TestContext, status: number, body: () => string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'x-webhook-header-brand': 'Service' }).end(body());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
