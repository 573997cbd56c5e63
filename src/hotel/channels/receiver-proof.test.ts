import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { MAX_BODY_BYTES } from '#platform/lib/bounds.ts';
import { assertError } from '#test/support/answers.ts';
import { channelHeaders, makeChannel, nowSeconds, RECEIVER } from '#test/support/channel.ts';
import { dayAhead, openHotel } from '#test/support/hotel.ts';
import { startService } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { signBody } from '#webhooks/deliveries/signature.ts';

const { service, hotel } = await useHotel();
const channel = await makeChannel(service, hotel);

let calls = 0;
function reservation(changes: Record<string, unknown> = {}): string {
  calls += 1;
  return JSON.stringify({
    external_id: `proof ${calls}`,
    status: 'confirmed',
    room_type_id: hotel.roomTypes['Double'],
    check_in: dayAhead(5),
    check_out: dayAhead(6),
    guest: { full_name: 'Ada' },
    ...changes,
  });
}

const send = (headers: Record<string, string>, body: string | Buffer | URLSearchParams, on = service) =>
  on.call('POST', RECEIVER, { headers, body: body instanceof URLSearchParams ? String(body) : body });

/**
 * Makes a valid call, replaces its headers with the result of `change`, and sends the call. Asserts that the response is 401, and returns
 * its body.
 */
async function assertRefused(change: (headers: Record<string, string>, body: string) => Record<string, string>) {
  const body = reservation();
  const headers = channelHeaders(channel, body);
  const answer = await send(change(headers, body), body);
  assertError(answer, 401, 'invalid_credentials');
  assert.equal(answer.headers.get('www-authenticate'), 'Signature');
  return answer.text;
}

describe('the receiver of OTA reservations refuses with 401', () => {
  it('401: a missing, empty or unknown channel key, timestamp or signature is refused with the same response body', async () => {
    const texts = new Set<string>();
    for (const name of ['x-channel-key', 'x-service-timestamp', 'x-service-signature']) {
      texts.add(await assertRefused(({ [name]: _, ...others }) => others));
      texts.add(await assertRefused((headers) => ({ ...headers, [name]: '' })));
      texts.add(await assertRefused((headers) => ({ ...headers, [name]: 'é'.repeat(3) })));
    }
    texts.add(await assertRefused((headers) => ({ ...headers, 'x-channel-key': `rck_${'A'.repeat(22)}` })));
    assert.equal(texts.size, 1);
  });

  it("401: a call with a partner's API key, an owner's token, or a channel key that has another prefix is refused", async () => {
    const { api_key, api_secret } = hotel.credential;
    await assertRefused((_, body) => channelHeaders({ channel_key: api_key, channel_secret: api_secret }, body));
    await assertRefused((headers) => ({ ...headers, 'x-channel-key': api_key }));
    await assertRefused((headers) => ({ ...headers, 'x-channel-key': channel.channel_key.replace('rck_', 'rsk_') }));
    await assertRefused(() => ({ 'content-type': 'application/json', ...hotel.partner }));
    await assertRefused(() => ({ 'content-type': 'application/json', ...hotel.owner }));
  });

  it('401: a call signed with the secret of another channel is refused, even if that channel belongs to the same tenant', async () => {
    const other = await makeChannel(service, hotel, 'another');
    const stranger = await makeChannel(service, await openHotel(service));
    for (const { channel_secret } of [other, stranger]) {
      await assertRefused((_, body) => channelHeaders({ ...channel, channel_secret }, body));
    }
  });

  it('401: a signature over bytes that differ from the sent body is refused, even if both are the same JSON value', async () => {
    await assertRefused((_, body) => channelHeaders(channel, JSON.stringify(JSON.parse(body), null, 2)));
    await assertRefused((_, body) => channelHeaders(channel, `${body}\n`));
    await assertRefused((_, body) => channelHeaders(channel, body.replace('Ada', '\\u0041da')));
    await assertRefused(() => channelHeaders(channel, ''));
  });

  it('401: a signature over a timestamp that differs from the sent timestamp is refused', async () => {
    const now = nowSeconds();
    await assertRefused((headers, body) => ({
      ...headers,
      'x-service-signature': signBody(channel.channel_secret, now - 1, body),
      'x-service-timestamp': String(now),
    }));
  });

  it('401: a signature that is not sha256= followed by 64 lower-case hex digits is refused', async () => {
    for (const respell of [
      (signature: string) => signature.slice('sha256='.length),
      (signature: string) => signature.replace('sha256', 'SHA256'),
      (signature: string) => `sha256=${signature.slice('sha256='.length).toUpperCase()}`,
      (signature: string) => signature.slice(0, -1),
      (signature: string) => `${signature}0`,
      (signature: string) => `sha512=${signature.slice('sha256='.length)}`,
    ]) {
      await assertRefused((headers) => ({
        ...headers,
        'x-service-signature': respell(String(headers['x-service-signature'])),
      }));
    }
  });

  it('401: a timestamp that is not a plain number of seconds is refused, even if the signature covers its exact text', async () => {
    const now = nowSeconds();
    for (const written of [`${now}.0`, `+${now}`, `0${now}`, `${now}e0`, `${now}000`, `0x${now.toString(16)}`, '-1']) {
      await assertRefused((headers) => ({ ...headers, 'x-service-timestamp': written }));
      await assertRefused((headers, body) => {
        const hmac = createHmac('sha256', channel.channel_secret).update(`${written}.${body}`).digest('hex');
        return { ...headers, 'x-service-timestamp': written, 'x-service-signature': `sha256=${hmac}` };
      });
    }
  });

  it("401: a timestamp 301 s before or after the service's clock is refused; 201: one that differs by 300 s is accepted", async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    for (const [seconds, status] of [
      [-300, 201],
      [300, 201],
      [-301, 401],
      [301, 401],
      [-86_400, 401],
    ] as const) {
      const body = reservation();
      const answer = await send(channelHeaders(channel, body, { at: nowSeconds() + seconds }), body);
      assert.equal(answer.status, status, `${seconds} s: ${answer.text}`);
    }
  });

  it('401: a wrong signature is refused before the query, the content type and the body are checked', async () => {
    const headers = channelHeaders(channel, 'other bytes');
    for (const [path, type] of [
      ['?a=%FF', 'application/json'],
      ['', 'text/odd'],
      ['', 'application/json'],
    ]) {
      const answer = await service.call('POST', `${RECEIVER}${path}`, {
        headers: { ...headers, 'content-type': String(type) },
        body: '{"a": 1',
      });
      assertError(answer, 401, 'invalid_credentials');
    }
  });
});

describe('bodies of calls to the receiver of OTA reservations', () => {
  it('413: a signed body of more than 256 KiB is refused; 401: an unsigned body of more than 256 KiB is refused', async () => {
    const body = `${' '.repeat(MAX_BODY_BYTES)}${reservation()}`;
    assertError(await send({ 'content-type': 'application/json' }, body), 401, 'invalid_credentials');
    assertError(await send(channelHeaders(channel, body), body), 413, 'error');
  });

  it('201: a signed body of 256 KiB is accepted', async () => {
    const json = reservation();
    const body = json + ' '.repeat(MAX_BODY_BYTES - Buffer.byteLength(json));
    assert.equal((await send(channelHeaders(channel, body), body)).status, 201);
  });

  it('400: a signed body that is not a valid JSON object is refused; 415: a signed body of type text/plain is refused', async () => {
    const latin1 = Buffer.from('{"a":"\xff"}', 'latin1');
    for (const body of ['{"a": 1', '"text"', '[]', 'null', '{"__proto__": 1}', '{"external_id": "\\u0000"}', latin1]) {
      assertError(await send(channelHeaders(channel, body), body), 400, 'invalid_request');
    }
    assertError(await send(channelHeaders(channel, 'a', { type: 'text/plain' }), 'a'), 415, 'error');
  });

  it('400: a signed call without a body is refused, and the message names a missing field', async () => {
    const { 'content-type': _, ...headers } = channelHeaders(channel, '');
    const message = assertError(await service.call('POST', RECEIVER, { headers }), 400, 'invalid_request');
    assert.match(message, /external_id: is required/);
  });

  it('201: a signed URL-encoded form and a signed multipart form create reservations', async () => {
    const fields = JSON.parse(reservation()) as Record<string, unknown>;
    const form = new URLSearchParams({ ...(fields as Record<string, string>), guests: '3', total_amount: '12.5' });
    form.delete('guest');
    form.set('guest[full_name]', 'Ada & Bo');
    const urlEncoded = channelHeaders(channel, String(form), { type: 'application/x-www-form-urlencoded' });
    const first = await send(urlEncoded, form);
    assert.deepEqual([first.status, first.body.guest.full_name], [201, 'Ada & Bo'], first.text);
    assert.equal(first.body.total_amount, '12.50');

    const parts = { ...fields, external_id: 'multi', guest: JSON.stringify({ full_name: 'Éva' }) };
    const multipart = `${Object.entries(parts)
      .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('')}--b--\r\n`;
    const type = 'multipart/form-data; boundary=b';
    const second = await send(channelHeaders(channel, multipart, { type }), multipart);
    assert.deepEqual([second.status, second.body.guest.full_name], [201, 'Éva'], second.text);
  });
});

describe('WEBHOOK_HEADER_BRAND', () => {
  it('201: if WEBHOOK_HEADER_BRAND is Acme, a call with the header X-Acme-Signature is accepted; 401: a call with the default X-Service-Signature is refused', async () => {
    const acme = await startService({ beside: service, config: { webhookHeaderBrand: 'Acme' } });
    try {
      const body = reservation();
      const branded = channelHeaders(channel, body, { brand: 'Acme' });
      assert.ok('x-Acme-signature' in branded);
      assertError(await send(channelHeaders(channel, body), body, acme), 401, 'invalid_credentials');
      assert.equal((await send(branded, body, acme)).status, 201);
      assertError(await send(branded, body), 401, 'invalid_credentials');
    } finally {
      await acme.close();
    }
  });
});
