import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createKeyMaker, newSecret } from './api-key.ts';

const keys = createKeyMaker(randomBytes(32), 'rsk_');
const tenantIds = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('an API key', () => {
  it('carries its tenant', () => {
    fc.assert(fc.property(tenantIds, (tenantId) => keys.tenantOfApiKey(keys.newApiKey(tenantId)) === tenantId));
  });

  it('is short and fits a header as it is', () => {
    fc.assert(fc.property(tenantIds, (tenantId) => /^rsk_[\w-]{22}$/.test(keys.newApiKey(tenantId))));
  });

  it('shows nobody which tenant it is of: keys of one tenant share no more than keys of any two', () => {
    const made = Array.from({ length: 2_000 }, () => keys.newApiKey(42).slice('rsk_'.length));
    // Random texts: 64^4 different ones, so that 2,000 of them hold a pair of equals in one of eight runs.
    for (let start = 0; start + 4 < 22; start += 1) {
      const parts = new Set(made.map((key) => key.slice(start, start + 4)));
      assert.ok(parts.size > 1_980, `${parts.size} different texts at ${start}`);
    }
  });

  it('says nothing to another installation', () => {
    const others = createKeyMaker(randomBytes(32), 'rsk_');
    const seen = Array.from({ length: 200 }, () => others.tenantOfApiKey(keys.newApiKey(42)));
    assert.ok(!seen.includes(42));
  });
});

describe('a text that is no API key', () => {
  it('is of nobody, or of a tenant that does not know it, and never an error', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
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

  it('is of nobody where it is empty, too short, too long or of another kind', () => {
    const key = keys.newApiKey(42);
    for (const text of ['', 'rsk_', key.slice(4), key.slice(0, -2), `${key}AAAA`, `rss_${key.slice(4)}`, newSecret()]) {
      assert.equal(keys.tenantOfApiKey(text), 0, text);
    }
  });
});

describe('an API secret', () => {
  it('holds 256 random bits', () => {
    const secrets = Array.from({ length: 100 }, newSecret);
    assert.equal(new Set(secrets).size, 100);
    for (const secret of secrets) {
      assert.match(secret, /^rss_[\w-]{43}$/);
      assert.equal(Buffer.from(secret.slice(4), 'base64url').length, 32);
    }
  });

  it('has one hash under one pepper, and another under another', () => {
    const pepper = randomBytes(32);
    const secret = newSecret();
    const hash = createKeyMaker(pepper, 'rsk_').hashSecret(secret);
    assert.equal(hash.length, 32);
    assert.deepEqual(createKeyMaker(pepper, 'rsk_').hashSecret(secret), hash);
    assert.notDeepEqual(createKeyMaker(randomBytes(32), 'rsk_').hashSecret(secret), hash);
    assert.notDeepEqual(createKeyMaker(pepper, 'rsk_').hashSecret(`${secret} `), hash);
  });
});
