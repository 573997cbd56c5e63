import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '#test/support/texts.ts';
import { createKeyMaker, newSecret } from './api-key.ts';

const keys = createKeyMaker(randomBytes(32), 'rsk_');
const tenantIds = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('an API key', () => {
  it('the tenant id can be read from an API key', () => {
    fc.assert(fc.property(tenantIds, (tenantId) => keys.tenantOfApiKey(keys.newApiKey(tenantId)) === tenantId));
  });

  it('an API key consists of a prefix and 22 characters that need no escaping in a header', () => {
    fc.assert(fc.property(tenantIds, (tenantId) => /^rsk_[\w-]{22}$/.test(keys.newApiKey(tenantId))));
  });

  it('if 2,000 API keys are created for one tenant, they have more than 1,980 different texts at any four adjacent positions after "rsk_"', () => {
    const made = Array.from({ length: 2_000 }, () => keys.newApiKey(42).slice('rsk_'.length));
    // At each position, the test compares pieces of four characters, one piece of each of the 2,000 keys. There are 64^4 possible pieces.
    // Even if all pieces are random, about one of eight positions has two equal pieces. So the test allows a few equal pieces.
    for (let start = 0; start + 4 <= 22; start += 1) {
      const parts = new Set(made.map((key) => key.slice(start, start + 4)));
      assert.ok(parts.size > 1_980, `${parts.size} different texts at ${start}`);
    }
  });

  it('the tenant id in an API key cannot be read with the pepper of another installation', () => {
    const otherInstallation = createKeyMaker(randomBytes(32), 'rsk_');
    const seen = Array.from({ length: 200 }, () => otherInstallation.tenantOfApiKey(keys.newApiKey(42)));
    assert.ok(!seen.includes(42));
  });
});

describe('a text that is not an API key', () => {
  it('reading the tenant id from a random text returns 0 or a positive number, and never throws', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 60 }),
      fc.string({ minLength: 22, maxLength: 22 }).map((text) => `rsk_${text}`),
      fc.base64String({ maxLength: 60 }).map((text) => `rsk_${text}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const tenantId = keys.tenantOfApiKey(text);
        return Number.isSafeInteger(tenantId) && tenantId >= 0;
      }),
      { numRuns: 2_000 },
    );
  });

  it('the tenant id read from an API key that is empty, too short, too long or without its prefix is 0', () => {
    const key = keys.newApiKey(42);
    for (const text of ['', 'rsk_', key.slice(4), key.slice(0, -2), `${key}AAAA`, `rss_${key.slice(4)}`, newSecret()]) {
      assert.equal(keys.tenantOfApiKey(text), 0, text);
    }
  });
});

describe('an API secret', () => {
  it('an API secret consists of a prefix and 32 bytes, and 100 secrets are all different', () => {
    const secrets = Array.from({ length: 100 }, newSecret);
    assert.equal(new Set(secrets).size, 100);
    for (const secret of secrets) {
      assert.match(secret, /^rss_[\w-]{43}$/);
      assert.equal(Buffer.from(secret.slice(4), 'base64url').length, 32);
    }
  });

  it('the hash of an API secret is always the same with one pepper, and different with another pepper', () => {
    const pepper = randomBytes(32);
    const secret = newSecret();
    const hash = createKeyMaker(pepper, 'rsk_').hashSecret(secret);
    assert.equal(hash.length, 32);
    assert.deepEqual(createKeyMaker(pepper, 'rsk_').hashSecret(secret), hash);
    assert.notDeepEqual(createKeyMaker(randomBytes(32), 'rsk_').hashSecret(secret), hash);
    assert.notDeepEqual(createKeyMaker(pepper, 'rsk_').hashSecret(`${secret} `), hash);
  });
});
