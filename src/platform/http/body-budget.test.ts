import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError } from '#test/support/answers.ts';
import { channelHeaders, makeChannel, nowSeconds, RECEIVER } from '#test/support/channel.ts';
import { openConnection, type RawConnection } from '#test/support/raw-http.ts';
import { ORDERS, place } from '#test/support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { DEFAULT_BOUNDS } from '../lib/bounds.ts';

const MIB = 1024 * 1024;
const bounds = {
  ...DEFAULT_BOUNDS,
  bodyBytes: { ofCaller: 2 * MIB, ofTenant: 3 * MIB, ofProcess: 5 * MIB, ofStrangers: 4 * MIB },
};

describe('the bounds on the bytes of request bodies in memory', () => {
  let service: TestService;
  let tenant: TestTenant;
  let opened: RawConnection[] = [];
  before(async () => {
    service = await startService({ config: { bounds } });
    tenant = await service.tenant();
    // The first call loads the OpenAPI documents, which takes seconds on a busy machine. Bodies that are under way would wait for it.
    assertError(await sendLarge(tenant.partner), 400, 'invalid_request');
  });
  after(() => service.close());

  /** Sends the head of a request and all bytes of its body except the last one, so that the service waits for this byte. */
  async function beginCall(path: string, headers: Record<string, string>, bytes: number): Promise<RawConnection> {
    const connection = openConnection(service.url);
    const lines = Object.entries({ ...headers, 'content-type': 'application/json', 'content-length': String(bytes) });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${head}\r\n${' '.repeat(bytes - 1)}`);
    opened.push(connection);
    await sleep(50); // Gives the service time to read the head of the request.
    return connection;
  }

  /** Closes the connections of all calls that `beginCall` began. Waits until the service has released the bytes of their bodies. */
  async function endCalls(partner: Record<string, string>): Promise<void> {
    opened.forEach(({ socket }) => socket.destroy());
    opened = [];
    for (let tries = 0; tries < 100 && (await sendLarge(partner)).status === 429; tries += 1) {
      await sleep(20);
    }
  }

  /**
   * Makes a call with a large body. The call gets 429 if the body exceeds a bound. Otherwise it gets 400, because the body is not a valid
   * order.
   */
  const sendLarge = (partner: Record<string, string>, bytes = MIB) =>
    service.call('POST', ORDERS, {
      headers: { ...partner, 'content-type': 'application/json' },
      body: '{}'.padEnd(bytes),
    });

  /**
   * Repeats the call until the service refuses it. The first calls may be accepted, because the service may not yet have read all bytes of
   * the calls that `beginCall` began.
   */
  const refusedSoon = <T extends { status: number }>(send: () => Promise<T | undefined>) =>
    eventually(async () => {
      const answer = await send();
      return answer?.status === 429 && answer;
    }, 'refusal with 429');

  it('429: a large body is refused if the credential already has 2 MiB of bodies under way, but a body of 64 KiB is accepted', async () => {
    await beginCall(ORDERS, tenant.partner, MIB);
    await beginCall(ORDERS, tenant.partner, MIB);
    const refused = await refusedSoon(() => sendLarge(tenant.partner));
    assertError(refused, 429, 'rate_limited');
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.match(
      refused.body.message,
      /^body: with this body, this caller would have more than 2 MiB of request bodies under way\. /,
    );
    assertError(await sendLarge(tenant.partner, 64 * 1024), 400, 'invalid_request');
    assert.equal((await place(service, tenant)).status, 201);
    await endCalls(tenant.partner);
    assertError(await sendLarge(tenant.partner), 400, 'invalid_request');
  });

  it('429: a large body is refused if its tenant or all tenants together would have too many bytes of bodies in memory', async () => {
    const second = await service.credential(tenant.tenantId);
    await beginCall(ORDERS, tenant.partner, MIB);
    await beginCall(ORDERS, tenant.partner, MIB);
    await beginCall(ORDERS, second.partner, MIB);
    const refused = await refusedSoon(() => sendLarge(second.partner));
    assertError(refused, 429, 'rate_limited');
    assert.match(refused.body.message, /the callers of this tenant would have more than 3 MiB/);
    const other = await service.tenant();
    assertError(await sendLarge(other.partner), 400, 'invalid_request');
    await beginCall(ORDERS, other.partner, MIB);
    await beginCall(ORDERS, other.partner, MIB);
    const third = await service.tenant();
    const last = await refusedSoon(() => sendLarge(third.partner));
    assert.match(last.body.message, /^body: with this body, all callers would have more than 5 MiB/);
    await endCalls(third.partner);
  });

  it('413: a body above 1 MiB gets 413 instead of 429, even if the other bodies of its caller already take all allowed bytes', async () => {
    await beginCall(ORDERS, tenant.partner, MIB);
    await beginCall(ORDERS, tenant.partner, MIB);
    assertError(await sendLarge(tenant.partner, MIB + 1), 413, 'error');
    await endCalls(tenant.partner);
  });

  it('429: a body without Content-Length is counted while it arrives, and is refused if its caller then exceeds the bound', async () => {
    await beginCall(ORDERS, tenant.partner, MIB);
    await beginCall(ORDERS, tenant.partner, MIB - 100 * 1024);
    const head = Object.entries(tenant.partner).map(([name, value]) => `${name}: ${value}\r\n`);
    const chunk = `10000\r\n${' '.repeat(64 * 1024)}\r\n`;
    await refusedSoon(async () => {
      const connection = openConnection(service.url);
      connection.send(
        `POST ${ORDERS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${head.join('')}\r\n`,
      );
      connection.send(`${chunk.repeat(2)}0\r\n\r\n`);
      const [answer] = await connection.waitFor(1);
      connection.socket.destroy();
      return answer;
    });
    await endCalls(tenant.partner);
  });

  it('401: the endpoint for the reservations of channels refuses an unknown X-Channel-Key before the whole body has arrived', async () => {
    const connections = await Promise.all(
      Array.from({ length: 20 }, () => beginCall(RECEIVER, { 'x-channel-key': 'rck_unknown' }, MIB)),
    );
    for (const connection of connections) {
      assert.equal((await connection.waitFor(1))[0]?.status, 401);
    }
    await endCalls(tenant.partner);
  });

  it('429: if the reservation receiver already holds 1 MiB of unfinished bodies of one channel, or 4 MiB of all channels, it refuses another body of 2 bytes', async () => {
    const hotel = await service.tenant({ features: ['hotel'] });
    const [first, ...others] = await Promise.all(
      Array.from({ length: 5 }, (_, index) => makeChannel(service, hotel, `channel${index}`)),
    );
    assert.ok(first);
    const claimed = (channel: { channel_key: string }) => ({
      'x-channel-key': channel.channel_key,
      'x-service-timestamp': String(nowSeconds()),
      'x-service-signature': 'sha256=0',
    });
    await beginCall(RECEIVER, claimed(first), MIB);
    const body = JSON.stringify({});
    const headers = channelHeaders(first, body);
    const refused = await refusedSoon(() => service.call('POST', RECEIVER, { headers, body }));
    assertError(refused, 429, 'rate_limited');
    assert.match(refused.body.message, /this caller would have more than 1 MiB/);
    for (const channel of others.slice(0, 3)) {
      await beginCall(RECEIVER, claimed(channel), MIB);
    }
    const last = others.at(-1);
    assert.ok(last);
    const call = () => service.call('POST', RECEIVER, { headers: channelHeaders(last, body), body });
    const crowded = await refusedSoon(call);
    assertError(crowded, 429, 'rate_limited');
    assert.match(crowded.body.message, /callers without credentials would have more than 4 MiB/);
    await endCalls(tenant.partner);
    // `endCalls` has waited until the tenant may send a large body. The service may still hold bodies of the channels.
    const accepted = await eventually(async () => {
      const answer = await call();
      return answer.status !== 429 && answer;
    }, 'response other than 429');
    assertError(accepted, 400, 'invalid_request');
  });
});
