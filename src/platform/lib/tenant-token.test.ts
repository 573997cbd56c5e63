import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createTenantTokens } from './tenant-token.ts';

const pepper = randomBytes(32);
const tokens = createTenantTokens(pepper, 'test');

describe('a tenant token', () => {
  it('a tenant token has 64 characters of base64url, and `read` returns its tenant id and the same 32-byte hash as `create`', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (tenantId) => {
        const { token, hash } = tokens.create(tenantId);
        assert.match(token, /^[\w-]{64}$/);
        assert.equal(hash.length, 32);
        assert.deepEqual(tokens.read(token), { tenantId, hash });
      }),
    );
  });

  it('two tokens of one tenant differ in their encrypted block and in their secret part', () => {
    const [one, other] = [tokens.create(7).token, tokens.create(7).token];
    assert.notEqual(one.slice(0, 21), other.slice(0, 21));
    assert.notEqual(one.slice(22), other.slice(22));
  });

  it('a tenant token cannot be read with another pepper, or with another value of the parameter `purpose` of createTenantTokens', () => {
    const { token } = tokens.create(7);
    assert.equal(createTenantTokens(randomBytes(32), 'test').read(token), null);
    assert.equal(createTenantTokens(pepper, 'other').read(token), null);
  });

  it('a tenant token cannot be read if its encrypted block, the start of its secret part or its length changes, or if it gets characters outside base64url', () => {
    const bytes = Buffer.from(tokens.create(7).token, 'base64url');
    for (let index = 0; index < 24; index += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.equal(tokens.read(changed.toString('base64url')), null, String(index));
    }
    const token = bytes.toString('base64url');
    for (const text of ['', token.slice(1), `${token}A`, `${token.slice(1)}=`, `"${token.slice(2)}"`, `${token}\n`]) {
      assert.equal(tokens.read(text), null, text);
    }
  });

  it('if only the end of the secret part of a tenant token is changed, `read` returns the same tenant id with a different hash', () => {
    const { token, hash } = tokens.create(7);
    const bytes = Buffer.from(token, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(47) ^ 1, 47);
    const read = tokens.read(bytes.toString('base64url'));
    assert.equal(read?.tenantId, 7);
    assert.notDeepEqual(read.hash, hash);
  });
});
