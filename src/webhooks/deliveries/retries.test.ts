import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, isSignedWith, onlyDelivery, register } from '#test/support/webhooks.ts';
import { drawRetryWaitMs } from './outcomes.ts';

const WAIT_MS = 400;
/**
 * Time limit of each attempt, in milliseconds. All attempts except the one that hangs must end within this limit, even if the machine
 * suspends the process for two seconds.
 */
const TIMEOUT_MS = 3_000;
/**
 * Tolerance for the difference of two clocks, in milliseconds. PostgreSQL decides by its clock when a delivery is due, and the receiver
 * notes by its own clock when the delivery arrives.
 */
const CLOCK_MS = 20;

const unique = (values: unknown[]) => new Set(values.map(String)).size;
const timestampOf = (request: ReceivedRequest) => Number(request.headers['x-service-timestamp']);

describe('retries of a failed delivery', { concurrency: true }, () => {
  let service: TestService;
  const receivers: Receiver[] = [];
  const draws: number[] = [];

  before(async () => {
    const drawWaitMs = (attempt: number) => {
      draws.push(attempt);
      return WAIT_MS;
    };
    service = await startService({ worker: { drawWaitMs, timeoutMs: TIMEOUT_MS } });
  });
  after(async () => {
    await service.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  /**
   * Creates a tenant with its own receiver, and causes one event. The receiver responds with the result of `answer`, which gets the number
   * of requests so far.
   */
  async function begin(answer: (count: number, receiver: Receiver) => Answer) {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.answerWith(() => answer(receiver.requests.length, receiver));
    const tenant = await service.tenant();
    const secret = await register(service, tenant.partner, receiver.url);
    await causeEvent(service, tenant);
    return { receiver, tenant, secret };
  }

  /**
   * Causes another event, and waits until the event has arrived at the receiver. Deliveries that were due earlier have also arrived by
   * then, so the test can count all of them.
   */
  async function sendAnother(receiver: Receiver, tenant: TestTenant): Promise<void> {
    receiver.answerWith(() => 204);
    const { externalId } = await causeEvent(service, tenant);
    await eventually(
      () => receiver.requests.some((request) => request.rawBody.includes(externalId)),
      'the later event',
    );
  }

  it('a failing delivery is posted five times with the same body and event id, each time signed with a new timestamp', async () => {
    const { receiver, tenant, secret } = await begin(() => 500);
    const delivery = await onlyDelivery(service, tenant, 'failed');
    const requests = [...receiver.requests];
    assert.equal(requests.length, 5);
    assert.equal(unique(requests.map((request) => request.rawBody)), 1);
    assert.equal(unique(requests.map((request) => request.headers['x-service-event-id'])), 1);
    assert.ok(requests.every((request) => isSignedWith(secret, request)));
    requests.slice(1).forEach((request, index) => {
      const lastAt = requests[index]?.at ?? 0;
      assert.ok(timestampOf(request) >= Math.floor(lastAt / 1000), 'the timestamp is older than the previous attempt');
      assert.ok(
        request.at - lastAt >= WAIT_MS - CLOCK_MS,
        `the attempt came ${request.at - lastAt} ms after the previous one`,
      );
    });
    await sendAnother(receiver, tenant);
    assert.deepEqual(new Set(draws), new Set([1, 2, 3, 4]), 'no wait is drawn after the fifth attempt');
    const first = requests.map((request) => request.rawBody.toString())[0];
    assert.equal(receiver.requests.filter((request) => request.rawBody.toString() === first).length, 5);
    assert.equal(delivery.attempts.length, 5);
    delivery.attempts.forEach((attempt, index) => {
      assert.deepEqual(Object.keys(attempt), ['at', 'http_status', 'duration_ms', 'error']);
      assert.deepEqual([attempt.http_status, attempt.error], [500, 'http_status']);
      assert.ok(Number.isInteger(attempt.duration_ms) && (attempt.duration_ms ?? -1) >= 0);
      assert.ok(Math.abs(Date.parse(attempt.at) - (requests[index]?.at ?? 0)) < 10_000);
    });
  });

  it('after a redirect response, a delivery is retried at the same URL, and the redirect is not followed', async () => {
    const { receiver, tenant } = await begin((count, { port }) =>
      count < 3 ? { status: 307, headers: { location: `https://127.0.0.1:${port}/elsewhere` } } : 204,
    );
    const { attempts } = await onlyDelivery(service, tenant, 'delivered');
    assert.deepEqual(
      attempts.map(({ http_status: status, error }) => [status, error]),
      [
        [307, 'redirect'],
        [307, 'redirect'],
        [204, null],
      ],
    );
    assert.deepEqual([...new Set(receiver.requests.map((request) => request.path))], ['/hook']);
  });

  it('a delivery is retried after a timeout, a connection reset and a 404 response, and is not sent again after its success', async () => {
    const { receiver, tenant } = await begin((count) =>
      count === 1 ? 'hang' : count === 2 ? 'reset' : count === 3 ? 404 : 200,
    );
    const { attempts } = await onlyDelivery(service, tenant, 'delivered');
    assert.deepEqual(
      attempts.map(({ http_status: status, error }) => [status, error]),
      [
        [null, 'timeout'],
        [null, 'connection_reset'],
        [404, 'http_status'],
        [200, null],
      ],
    );
    assert.ok((attempts[0]?.duration_ms ?? 0) >= TIMEOUT_MS - CLOCK_MS);
    await sendAnother(receiver, tenant);
    assert.equal(receiver.requests.length, 5);
  });

  it('a retry goes to the webhook URL that is registered at that moment, signed with the secret of that URL', async () => {
    const { receiver, tenant, secret } = await begin(() => ({ status: 500, afterMs: 300 }));
    const next = await startReceiver();
    receivers.push(next);
    await receiver.waitFor(1);
    const nextSecret = await register(service, tenant.partner, next.url);
    await onlyDelivery(service, tenant, 'delivered');
    const [first] = receiver.requests;
    const [last] = next.requests;
    assert.ok(first && last);
    assert.equal(next.requests.length, 1);
    assert.deepEqual(last.rawBody, first.rawBody);
    assert.equal(last.headers['x-service-event-id'], first.headers['x-service-event-id']);
    assert.ok(receiver.requests.every((request) => isSignedWith(secret, request)));
    assert.equal(isSignedWith(nextSecret, last), true);
  });

  it('a delivery that waits for its fifth attempt is stopped without this attempt if its credential is revoked', async () => {
    const { receiver, tenant } = await begin(() => ({ status: 500, afterMs: 300 }));
    await receiver.waitFor(1);
    const revoked = await service.call('POST', `/v1/third-party/credentials/${tenant.credential.id}/revoke/`, {
      headers: tenant.owner,
    });
    assert.equal(revoked.status, 200);
    const { attempts } = await onlyDelivery(service, tenant, 'stopped');
    assert.equal(attempts.length, receiver.requests.length);
    assert.ok(attempts.length < 5);
    assert.ok(attempts.every((attempt) => attempt.http_status === 500));
  });

  it('if a credential is revoked during an attempt and the receiver answers 200, the delivery counts as delivered', async () => {
    const { receiver, tenant } = await begin(() => ({ status: 200, afterMs: 600 }));
    await receiver.waitFor(1);
    await service.call('POST', `/v1/third-party/credentials/${tenant.credential.id}/revoke/`, {
      headers: tenant.owner,
    });
    const { attempts } = await onlyDelivery(service, tenant, 'delivered');
    assert.equal(attempts.length, 1);
  });
});

for (const [index, longestMs] of [2_000, 4_000, 8_000, 16_000].entries()) {
  it(`the waits after failed attempt ${index + 1} are random whole numbers of milliseconds from 0 to ${longestMs}, spread evenly`, () => {
    const waits = Array.from({ length: 10_000 }, () => drawRetryWaitMs(index + 1));
    assert.ok(waits.every((waitMs) => Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= longestMs));
    for (let quarter = 0; quarter < 4; quarter += 1) {
      const inQuarter = waits.filter((waitMs) => Math.min(3, Math.floor(waitMs / (longestMs / 4))) === quarter).length;
      assert.ok(
        inQuarter > 2_000 && inQuarter < 3_000,
        `${inQuarter} of 10,000 waits are in quarter ${quarter} of the range`,
      );
    }
  });
}
