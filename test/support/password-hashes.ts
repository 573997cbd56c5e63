import { createHook } from 'node:async_hooks';
import { after, before } from 'node:test';

/** Counts the passwords that this process hashes during the tests of a file. */
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
