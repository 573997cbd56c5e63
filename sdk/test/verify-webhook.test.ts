import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { setStayStatus, stay } from '../../test/support/hotel.ts';
import { anyCharacter } from '../../test/support/texts.ts';
import { causeEvent } from '../../test/support/webhooks.ts';
import { deliveryHeaders } from '../../src/webhooks/deliveries/signature.ts';
import { type VerifyOptions, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from '../src/index.ts';
import { type PartnerTenant, openPartnerTenant } from './partner-tenant.ts';

const BRAND = 'Harbour-House';
const SECRET = 'a secret of the webhook';
const EVENT = {
  event: 'order.status_changed',
  event_id: '0198c0de-0000-7000-8000-000000000001',
  occurred_at: '2026-11-21T10:00:00.000Z',
  data: { order_id: '1', external_order_id: 'crème brûlée', status: 'ready' },
};
const BODY = JSON.stringify(EVENT);

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function signed({ secret = SECRET, ageSeconds = 0, body = BODY, brand = 'Service' } = {}): Record<string, string> {
  return deliveryHeaders(brand, { secret, eventId: '', timestampSeconds: nowSeconds() - ageSeconds, body });
}

/** Asserts that `verifyWebhook` refuses a delivery, and that the error does not show the secret. Returns the reason in the error. */
function reasonOf(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] = SECRET,
  options?: VerifyOptions,
): string {
  try {
    verifyWebhook(body, headers, secret, options);
  } catch (error) {
    assert.ok(error instanceof WebhookVerificationError, String(error));
    assert.ok(!`${error.message}${error.stack}`.includes(SECRET));
    return error.reason;
  }
  return assert.fail('The delivery was accepted, but it should have been refused.');
}

describe('deliveries of a service with a brand in its headers', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenant: PartnerTenant;
  let secret: string;

  before(async () => {
    service = await startService({ worker: true, config: { webhookHeaderBrand: BRAND } });
    receiver = await startReceiver();
    tenant = await openPartnerTenant(service);
    ({ webhook_secret: secret } = await tenant.client().webhook.register({ webhook_url: receiver.url }));
  });

  after(async () => {
    await receiver.close();
    await service.close();
  });

  async function latest(count: number): Promise<ReceivedRequest> {
    const request = (await receiver.waitFor(count)).at(-1);
    assert.ok(request);
    return request;
  }

  test('deliveries of all four event types are accepted, and each returned event has the right external id and status', async () => {
    const { externalId } = await causeEvent(service, tenant);
    const ordered = await latest(1);
    const event = verifyWebhook(ordered.rawBody, ordered.headers, secret);
    assert.ok(event.event === 'order.status_changed');
    assert.deepEqual([event.data.external_order_id, event.data.status], [externalId, 'confirmed']);

    const { guest, ...nights } = stay(tenant);
    const room_type_id = tenant.roomTypes['Double'] ?? '';
    const names: string[] = [];
    for (const status of ['completed', 'cancelled']) {
      const create = { ...nights, external_reservation_id: status, room_type_id, guest };
      const { reservation_id: id } = await tenant.client().reservations.create(create);
      await (status === 'cancelled'
        ? tenant.client().reservations.cancel(status)
        : setStayStatus(service, tenant, id, status));
    }
    for (const { rawBody, headers } of (await receiver.waitFor(5)).slice(1)) {
      const about = verifyWebhook(rawBody, headers, secret);
      assert.ok(about.event !== 'order.status_changed' && about.event !== 'test');
      names.push(`${about.event} ${about.data.external_reservation_id} ${about.data.status}`);
    }
    assert.deepEqual(names.sort(), [
      'reservation.cancelled cancelled cancelled',
      'reservation.created cancelled confirmed',
      'reservation.created completed confirmed',
      'reservation.modified completed completed',
    ]);
  });

  test('a correctly signed test call is returned with the event "test" and empty data, and is refused for another secret', async () => {
    const path = `/v1/staff/credentials/${tenant.credential.id}/ping/`;
    const answer = await service.call('POST', path, { headers: tenant.staff });
    assert.deepEqual([answer.status, answer.body.http_status], [200, 204]);
    const { rawBody, headers } = await latest(6);
    const call = verifyWebhook(rawBody, headers, secret);
    assert.ok(call.event === 'test');
    const { test: isTest }: { test: true } = call;
    const body = JSON.parse(rawBody.toString()) as object;
    assert.deepEqual(call, { ...body, test: isTest, event: 'test', data: {} });
    assert.equal(call.event_id, headers[`x-${BRAND.toLowerCase()}-event-id`]);
    assert.equal(reasonOf(rawBody, headers, 'another secret'), 'wrong_signature');
  });

  test('a delivery is refused as wrong_signature if one bit in any byte of its body is changed', async () => {
    await causeEvent(service, tenant);
    const { rawBody, headers } = await latest(7);
    verifyWebhook(rawBody, headers, secret);
    for (let index = 0; index < rawBody.length; index += 1) {
      const changed = Buffer.from(rawBody);
      changed.writeUInt8(changed.readUInt8(index) ^ (1 << (index % 8)), index);
      assert.equal(reasonOf(changed, headers, secret), 'wrong_signature');
    }
  });
});

describe('signature and timestamp', () => {
  test('a signed event is accepted with its body as text or bytes, and with its headers as a Headers object, a Map or a plain object', () => {
    const headers = signed();
    const bytes = new TextEncoder().encode(BODY);
    for (const body of [BODY, Buffer.from(BODY), bytes, new Uint8Array(Buffer.from(`x${BODY}`)).subarray(1)]) {
      assert.deepEqual(verifyWebhook(body, headers, SECRET), EVENT);
    }
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const form of [new Headers(headers), new Map(Object.entries(headers)), lower, { ...lists, host: undefined }]) {
      assert.deepEqual(verifyWebhook(BODY, form, SECRET), EVENT);
    }
  });

  test('a signed event is accepted if one of several secrets is right, and refused if all are wrong', () => {
    assert.deepEqual(verifyWebhook(BODY, signed(), ['the next one', SECRET]), EVENT);
    assert.equal(reasonOf(BODY, signed(), ['the next one', 'another']), 'wrong_signature');
  });

  test('a signed event with any text in its data is accepted with the secret that signed it, and refused with another secret', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: anyCharacter }), fc.string(), (secret, text) => {
        const body = JSON.stringify({ ...EVENT, data: { text } });
        verifyWebhook(body, signed({ secret, body }), secret);
        assert.equal(reasonOf(body, signed({ secret, body }), `${secret} `), 'wrong_signature');
      }),
    );
  });

  test('a signed event is accepted if its timestamp is 295 s early or late, and refused at 310 s, and toleranceSeconds changes the limit', () => {
    for (const ageSeconds of [-295, 0, 295]) verifyWebhook(BODY, signed({ ageSeconds }), SECRET);
    for (const ageSeconds of [-310, 310, 86_400]) {
      assert.equal(reasonOf(BODY, signed({ ageSeconds }), SECRET), 'outside_tolerance');
    }
    assert.equal(reasonOf(BODY, signed({ ageSeconds: 30 }), SECRET, { toleranceSeconds: 10 }), 'outside_tolerance');
    assert.equal(reasonOf(BODY, signed(), SECRET, { toleranceSeconds: Number.NaN }), 'outside_tolerance');
    verifyWebhook(BODY, signed({ ageSeconds: 1e6 }), SECRET, { toleranceSeconds: Infinity });
  });

  test('a signed event is refused as wrong_signature if its timestamp header is changed by one second', () => {
    const headers = signed();
    for (const change of [-1, 1]) {
      const timestamp = String(Number(headers['X-Service-Timestamp']) + change);
      assert.equal(reasonOf(BODY, { ...headers, 'X-Service-Timestamp': timestamp }), 'wrong_signature');
    }
  });
});

describe('signature headers', () => {
  test('a delivery with both X-Service-Signature and X-Other-Signature is refused without the option headerBrand, and accepted if headerBrand is "Service"', () => {
    const both = { ...signed({ brand: 'Other', secret: 'x' }), ...signed() };
    assert.equal(reasonOf(BODY, both), 'ambiguous_header');
    assert.deepEqual(verifyWebhook(BODY, both, SECRET, { headerBrand: 'Service' }), EVENT);
    assert.equal(reasonOf(BODY, signed(), SECRET, { headerBrand: 'Other' }), 'missing_header');
  });

  test('a correctly signed delivery is accepted if it also has a header X-Hub-Signature without a header X-Hub-Timestamp', () => {
    assert.deepEqual(verifyWebhook(BODY, { ...signed(), 'X-Hub-Signature': 'sha1=0' }, SECRET), EVENT);
  });

  test('signature and timestamp headers that are missing, repeated or malformed always throw a WebhookVerificationError', () => {
    const headers = signed();
    const { 'X-Service-Signature': signature = '', 'X-Service-Timestamp': timestamp = '' } = headers;
    assert.equal(reasonOf(BODY, {}), 'missing_header');
    assert.equal(reasonOf(BODY, { 'X-Service-Signature': signature }), 'missing_header');
    assert.equal(reasonOf(BODY, { 'X-Service-Timestamp': timestamp }), 'missing_header');
    const malformed = [
      { 'X-Service-Signature': signature.slice(7) },
      { 'X-Service-Signature': `${signature}0` },
      { 'X-Service-Signature': signature.slice(0, -1) },
      { 'X-Service-Signature': [signature, signature] },
      { 'X-Service-Signature': '' },
      ...['', 'NaN', '1e9', `-${timestamp}`, `${timestamp}.0`, ` ${timestamp}`, '9'.repeat(400)].map((each) => ({
        'X-Service-Timestamp': each,
      })),
    ];
    for (const changes of malformed) assert.equal(reasonOf(BODY, { ...headers, ...changes }), 'malformed_header');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.string(), (randomHeaders, text) => {
        assert.match(reasonOf(BODY, randomHeaders), /^missing_header$|^malformed_header$/);
        reasonOf(BODY, { ...headers, 'x-service-signature': text });
      }),
    );
  });
});

describe('invalid arguments and bodies', () => {
  test('an empty secret, an empty list of secrets and a parsed body throw a TypeError', () => {
    for (const secret of ['', [], ['one', '']]) {
      assert.throws(() => verifyWebhook(BODY, signed({ secret: '' }), secret), { name: 'TypeError' });
    }
    const parsed: unknown = EVENT;
    assert.throws(() => verifyWebhook(parsed as string, signed(), SECRET), {
      name: 'TypeError',
      message: /^rawBody: /,
    });
  });

  test('a body that is correctly signed but is neither an event nor a test call is refused as malformed_body', () => {
    const tests = ['{"test":true}', '{"test":1,"event_id":"1"}', '{"test":true,"event_id":"1","event":"x"}'];
    for (const body of ['', 'x', 'null', '[]', '"event"', '{}', '{"event":1,"event_id":"1","data":{}}', ...tests]) {
      assert.equal(reasonOf(body, signed({ body })), 'malformed_body');
    }
  });
});
