import { createHook } from 'node:async_hooks';
import { after, before } from 'node:test';

/** Returns a counter of the password hashes that this process computes during the tests of the calling file. */
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
