import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '#test/support/texts.ts';
import { deliveryHeaders, signBody, verifySignature } from './signature.ts';

// This command made the expected signature (SIGNATURE):
// printf '%s' '1767225600.{"event":"order.status_changed"}' | openssl dgst -sha256 -hmac 'whsec_grün'
const SECRET = 'whsec_grün';
const TIMESTAMP = 1_767_225_600;
const BODY = '{"event":"order.status_changed"}';
const SIGNATURE = 'sha256=dd6816c6746dcc2a054e45af34a99a10b044f15367a9b89825053652fd15ef0b';

test('signBody returns the same HMAC as openssl for timestamp, dot and body, with the UTF-8 bytes of the secret as the key', () => {
  assert.equal(signBody(SECRET, TIMESTAMP, BODY), SIGNATURE);
  assert.equal(signBody(SECRET, TIMESTAMP, Buffer.from(BODY)), SIGNATURE);
});

test('deliveryHeaders puts the configured brand into all three header names', () => {
  const delivery = { secret: SECRET, eventId: '0198e0a2-0000-7000-8000-000000000000', timestampSeconds: TIMESTAMP };
  assert.deepEqual(deliveryHeaders('Acme', { ...delivery, body: BODY }), {
    'X-Acme-Signature': SIGNATURE,
    'X-Acme-Timestamp': '1767225600',
    'X-Acme-Event-Id': '0198e0a2-0000-7000-8000-000000000000',
  });
});

const secrets = fc.string({ unit: anyCharacter, minLength: 1 });
const texts = fc.string({ unit: anyCharacter });
const timestamps = fc.nat({ max: 4_000_000_000 });
const bodies = fc.uint8Array().map((bytes) => Buffer.from(bytes));

test('verifySignature accepts each signature that signBody makes, for any secret, timestamp and body', () => {
  fc.assert(
    fc.property(secrets, timestamps, bodies, (secret, timestampSeconds, body) => {
      const signature = signBody(secret, timestampSeconds, body);
      assert.ok(verifySignature(secret, { timestampSeconds, body, signature }));
    }),
  );
});

test('verifySignature refuses a signature of another secret, timestamp or body, a random text, and a signature of a wrong length', () => {
  fc.assert(
    fc.property(secrets, timestamps, bodies, texts, (secret, timestampSeconds, body, text) => {
      const signature = signBody(secret, timestampSeconds, body);
      const message = { timestampSeconds, body, signature };
      assert.ok(!verifySignature(`${secret}x`, message));
      assert.ok(!verifySignature(secret, { ...message, timestampSeconds: timestampSeconds + 1 }));
      assert.ok(!verifySignature(secret, { ...message, body: Buffer.concat([body, Buffer.of(0)]) }));
      assert.ok(!verifySignature(secret, { ...message, signature: text }));
      assert.ok(!verifySignature(secret, { ...message, signature: signature.slice('sha256='.length) }));
      assert.ok(!verifySignature(secret, { ...message, signature: `${signature}0` }));
    }),
  );
});
