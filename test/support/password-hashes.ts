import { createHook } from 'node:async_hooks';
import { argon2Sync, randomBytes } from 'node:crypto';
import { after, before } from 'node:test';

/** Returns a counter of password hashes. It counts each hash that this process computes while the tests of the calling file run. */
export function countPasswordHashes(): { readonly count: number } {
  const hashes = { count: 0 };
  const hook = createHook({
    init(_id, type) {
      hashes.count += type === 'ARGON2REQUEST' ? 1 : 0;
    },
  });
  before(() => hook.enable());
  after(() => hook.disable());
  return hashes;
}

/** Returns the hash of a password as versions of the service up to 1.0 stored it: of the text as it was sent, without normalising it. */
export function hashAsSent(password: string): string {
  const nonce = randomBytes(16);
  const cost = { memory: 19_456, passes: 2, parallelism: 1 };
  const tag = argon2Sync('argon2id', { ...cost, message: password, nonce, tagLength: 32 });
  return `argon2id$${Object.values(cost).join('$')}$${nonce.toString('base64')}$${tag.toString('base64')}`;
}
