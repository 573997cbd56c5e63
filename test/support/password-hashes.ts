import { createHook } from 'node:async_hooks';
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
