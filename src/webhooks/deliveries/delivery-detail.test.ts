import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { type Answer as Reaction, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, isSignedWith, onlyDelivery, register } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';

const PATH = '/v1/staff/webhook-deliveries/';
/** Pace of the worker. It retries immediately, and stores the responses of receivers. */
const PACE = { drawWaitMs: () => 0, probeRestMs: 0, keepAnswers: true };
interface ShownAttempt {
  at: string;
  http_status: number | null;
  error: string | null;
  answer: string | null;
}

let service: TestService;
let receiver: Receiver;
const log: string[] = [];
before(async () => {
  service = await startService({
    worker: PACE,
    onLog: (line) => log.push(line),
  });
  receiver = await startReceiver();
});
after(async () => {
  await service.close();
  await receiver.close();
});

const read = (of: TestTenant, id: string) => service.call('GET', `${PATH}${id}/`, { headers: of.staff });

/** Reads a delivery of the tenant. @throws AssertionError if the status of the response is not 200 */
async function readShown(of: TestTenant, id: string, from: TestService = service) {
  const { status, text, body } = await from.call('GET', `${PATH}${id}/`, { headers: of.staff });
  assert.equal(status, 200, text);
  return body;
}

/**
 * Causes one event, and waits until its delivery has the status. The receiver answers each attempt with the next reaction of the list.
 * After the end of the list, it repeats the last reaction.
 */
async function deliver(reactions: Reaction[], status: string) {
  const tenant = await service.tenant();
  const secret = await register(service, tenant.partner, receiver.url);
  let attempt = 0;
  receiver.answerWith(() => reactions[Math.min(attempt++, reactions.length - 1)] ?? 204);
  const earlier = receiver.requests.length;
  await causeEvent(service, tenant);
  const delivery = await onlyDelivery(service, tenant, status);
  const requests = receiver.requests.slice(earlier);
  const body = await readShown(tenant, delivery.id.toUpperCase());
  return { tenant, secret, delivery, requests, shown: body, attempts: body.attempts as ShownAttempt[] };
}

describe('GET /v1/staff/webhook-deliveries/{id}/', () => {
  it('200: a delivery shows the exact body and headers of its last request, but not the signature', async () => {
    const { shown, requests, secret, delivery } = await deliver([500, 204], 'delivered');
    const last = requests.at(-1) ?? assert.fail();
    assert.equal(requests.length, 2);
    assert.equal(shown.body, last.rawBody.toString());
    assert.ok(isSignedWith(secret, last));
    const names = Object.keys(shown.headers).map((name) => name.toLowerCase());
    assert.deepEqual(names, ['content-type', 'user-agent', 'x-service-timestamp', 'x-service-event-id']);
    for (const [name, value] of Object.entries(shown.headers)) {
      assert.equal(value, last.headers[name.toLowerCase()], name);
    }
    const { attempts, body: _, headers: __, ...facts } = shown;
    assert.deepEqual({ ...facts, attempts: attempts.map(({ answer, ...rest }: ShownAttempt) => rest) }, delivery);
  });

  it('200: a failed attempt shows the first bytes of its response, and a successful attempt shows no response', async () => {
    const failed = { status: 418, body: '{"error": "a teapot"}' };
    const { attempts } = await deliver(
      [failed, { status: 302, body: 'moved' }, { status: 500 }, { status: 200, body: 'fine' }],
      'delivered',
    );
    assert.deepEqual(
      attempts.map(({ http_status, answer }) => [http_status, answer]),
      [
        [418, '{"error": "a teapot"}'],
        [302, 'moved'],
        [500, ''],
        [200, null],
      ],
    );
  });

  it('200: a delivery without an attempt has no timestamp in its headers', async () => {
    const own = await service.tenant();
    const next_attempt_at = new Date(Date.now() + 3_600_000);
    const [id = ''] = await insertEvents(service.database.db, [
      eventOf(own, { delivery: { status: 'pending', next_attempt_at } }),
    ]);
    const body = await readShown(own, id);
    assert.deepEqual(Object.keys(body.headers), ['content-type', 'user-agent', 'X-Service-Event-Id']);
    assert.deepEqual([body.attempts, body.next_attempt_at], [[], next_attempt_at.toISOString()]);
  });

  it('200: if the header brand is Harbour and private networks are allowed, a delivery shows headers such as X-Harbour-Timestamp and hides the responses of the receiver', async (t) => {
    const own = await startService({
      worker: { drawWaitMs: () => 0, probeRestMs: 0 },
      config: { webhookHeaderBrand: 'Harbour' },
    });
    t.after(() => own.close());
    const tenant = await own.tenant();
    await register(own, tenant.partner, receiver.url);
    let attempt = 0;
    receiver.answerWith(() => ({ status: (attempt += 1) === 1 ? 500 : 204, body: 'secret' }));
    await causeEvent(own, tenant);
    const { id } = await onlyDelivery(own, tenant, 'delivered');
    const body = await readShown(tenant, id, own);
    assert.deepEqual(
      body.attempts.map(({ answer }: ShownAttempt) => answer),
      [null, null],
    );
    assert.ok(body.headers['X-Harbour-Timestamp'] && body.headers['X-Harbour-Event-Id'] === id);
    assert.deepEqual(await own.database.db.selectFrom('delivery').select('answers').execute(), [{ answers: null }]);
  });

  it('the log has a line for each attempt of a delivery, and contains no response of a receiver', async () => {
    const { delivery } = await deliver([{ status: 500, body: 'token=hunter2' }, 204], 'delivered');
    const lines = await eventually(() => {
      const found = log.filter((line) => line.includes(delivery.id) && line.includes('webhook attempt'));
      return found.length === 2 && found;
    }, 'two lines about the attempts');
    assert.ok(lines.every((line) => line.includes('"timestampSeconds"')));
    assert.ok(!log.some((line) => line.includes('hunter2')));
  });

  it('404: a delivery with an unknown or malformed id, of another tenant, or of an event without a delivery is not found', async () => {
    const [own, stranger] = [await service.tenant(), await service.tenant()];
    const [theirs = ''] = await insertEvents(service.database.db, [
      eventOf(stranger, { delivery: { status: 'failed' } }),
    ]);
    const [bare = ''] = await insertEvents(service.database.db, [eventOf(own)]);
    for (const id of [newId(), 'x', '%00', theirs, bare, own.credential.id]) {
      const { status } = await read(own, id);
      assert.ok(status === 404 || (id === '%00' && status === 400), `${id}: ${status}`);
    }
    assertError(await read(own, theirs), 404, 'error');
  });
});
