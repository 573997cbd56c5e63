import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { startService, type ServiceOptions, type TestService } from '#test/support/service.ts';
import { openDisplay } from '#test/support/sessions.ts';
import { CHANGES, isBeat, isResync, openStream, type TestStream } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';

describe('the stream of GET /v1/staff/changes/', () => {
  const services: TestService[] = [];
  after(async () => {
    await Promise.all(services.map((service) => service.close()));
  });

  async function start(streams: ServiceOptions['streams'] = {}) {
    const service = await startService({ streams });
    services.push(service);
    return { service, tenant: await service.tenant() };
  }

  it('200: a stream of live changes begins immediately with a comment, and its headers forbid caches and proxies to store or change the stream', async () => {
    const { service, tenant } = await start();
    const stream = await openStream(service.url, { ...tenant.owner, 'accept-encoding': 'gzip, br' });
    const { headers } = stream.response;
    assert.equal(headers.get('content-type'), 'text/event-stream');
    assert.equal(headers.get('cache-control'), 'no-store, no-transform');
    assert.equal(headers.get('x-accel-buffering'), 'no');
    assert.equal(headers.get('content-encoding'), null);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('x-request-id') ?? '', /./);
    // The next regular comment comes only after 10 s.
    const { comment } = await stream.find(isBeat, { withinMs: 5_000 });
    assert.ok(Math.abs(Number(comment?.slice(5)) - Date.now()) < 5_000, comment);
    stream.close();
  });

  it('200: HEAD returns the headers without opening a stream of live changes, and GET opens a stream with any value of the header Accept', async () => {
    const { service, tenant } = await start({ ofCaller: 1 });
    for (let call = 0; call < 3; call += 1) {
      const head = await service.call('HEAD', CHANGES, { headers: tenant.owner });
      assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream']);
    }
    for (const accept of ['text/event-stream', '*/*', 'application/json']) {
      const headers = { ...tenant.owner, accept };
      const stream = await eventually(() => openStream(service.url, headers).catch(() => undefined), 'stream');
      stream.close();
    }
  });

  it('200: a stream of live changes regularly sends a comment with the time of the server', async () => {
    const { service, tenant } = await start({ beatEveryMs: 600 });
    const stream = await openStream(service.url, tenant.owner);
    const times = async () => stream.blocks.filter(isBeat).map(({ comment }) => Number(comment?.slice(5)));
    await eventually(async () => (await times()).length >= 3, 'third comment');
    const [first = 0, second = 0, third = 0] = await times();
    // All streams of a process say it at the same time, so the first comment after the beginning may come sooner.
    assert.ok(second > first && third - second >= 590, `${first} ${second} ${third}`);
    stream.close();
  });

  it('200: a stream of live changes ends after its time limit, and the caller may open another stream', async () => {
    const { service, tenant } = await start({ longestMs: 300, beatEveryMs: 50 });
    const stream = await openStream(service.url, tenant.owner);
    await stream.ended;
    const next = await openStream(service.url, tenant.owner);
    await next.find(isBeat);
    next.close();
  });

  it('429: a stream of live changes above the limit of a caller, tenant or process is refused until another stream ends', async () => {
    const { service, tenant } = await start({ ofCaller: 2, ofTenant: 3, ofProcess: 4 });
    const other = await service.tenant();
    const display = await openDisplay(service, tenant.tenantId, []);
    const refused = async (headers: Record<string, string>, whose: string) => {
      const answer = await service.call('GET', CHANGES, { headers });
      assert.deepEqual([answer.status, answer.body.code], [429, 'rate_limited']);
      assert.ok(answer.body.message.startsWith(whose), answer.body.message);
      assert.equal(answer.headers.get('retry-after'), '5');
    };
    const own = [await openStream(service.url, tenant.owner), await openStream(service.url, tenant.owner)];
    await refused(tenant.owner, 'You have 2');
    own.push(await openStream(service.url, display.headers));
    await refused(tenant.staff, 'The tenant has 3');
    own.push(await openStream(service.url, other.owner));
    await refused(other.staff, 'The service has 4');
    own[0]?.close();
    await eventually(async () => {
      const stream = await openStream(service.url, tenant.owner).catch(() => undefined);
      return stream && own.push(stream);
    }, 'room for a stream');
    own.forEach((stream) => stream.close());
  });

  it('200: 30 open streams of live changes do not block 60 other calls of the same caller', async () => {
    const { service, tenant } = await start({ ofCaller: 40 });
    const streams = await Promise.all(Array.from({ length: 30 }, () => openStream(service.url, tenant.owner)));
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => service.call('GET', '/v1/staff/orders/', { headers: tenant.owner })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    streams.forEach((stream: TestStream) => stream.close());
  });

  it('200: clients that leave before their stream of live changes opens keep no place of their tenant', async () => {
    const { service, tenant } = await start();
    const { hostname, port } = new URL(service.url);
    const lines = Object.entries({ host: hostname, ...tenant.owner }).map(([name, value]) => `${name}: ${value}\r\n`);
    for (let call = 0; call < 60; call += 1) {
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${CHANGES} HTTP/1.1\r\n${lines.join('')}\r\n`, () =>
        setTimeout(() => socket.resetAndDestroy(), call % 4),
      );
      await once(socket, 'close');
    }
    assert.equal((await service.call('GET', '/v1/staff/people/', { headers: tenant.owner })).status, 200);
  });

  it('200: if the database refuses the reads of changes, a stream of live changes opens nevertheless, and sends resync after the first read that succeeds', async () => {
    const { service, tenant } = await start();
    const { schema } = service.database.db;
    await schema.alterTable('audit_entry').renameTo('elsewhere').execute();
    const stream = await openStream(service.url, tenant.owner);
    await stream.find(isBeat);
    assert.deepEqual(stream.events(), []);
    await schema.alterTable('elsewhere').renameTo('audit_entry').execute();
    await stream.find(isResync);
    stream.close();
  });
});
