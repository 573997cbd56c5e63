import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import { type Answer, startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD } from '#test/support/tenants.ts';

let service: TestService;
const hashes = countPasswordHashes();
before(async () => {
  service = await startService();
});
after(() => service.close());

type Node = Pick<TestService, 'call'>;

const signIn = (node: Node, email: string, password: string, headers: Record<string, string> = {}) =>
  node.call('POST', '/v1/auth/token/', { json: { email, password }, headers });

/** A call that takes from the address's budget and costs nothing: its body has faults. */
const knock = (node: Node, headers: Record<string, string> = {}) => node.call('POST', '/v1/auth/token/', { headers });

function assertLimited(answer: Answer, limit: number): void {
  assert.equal(answer.status, 429);
  assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
  assert.equal(answer.body.code, 'rate_limited');
  const reset = answer.headers.get('x-ratelimit-reset') ?? '';
  assert.match(reset, /^([1-9]|[1-5]\d|60)$/);
  assert.equal(answer.headers.get('retry-after'), reset);
  assert.equal(answer.headers.get('x-ratelimit-limit'), String(limit));
  assert.equal(answer.headers.get('x-ratelimit-remaining'), '0');
}

describe('sign-ins with one e-mail', () => {
  it('429: after 10 in a minute, before any password is hashed, also for the right one and in any case', async () => {
    const { document } = await service.tenant();
    const email = `owner@${document.slug}.example`;
    for (let left = 9; left >= 0; left -= 1) {
      const answer = await signIn(service, left % 2 ? email : email.toUpperCase(), 'not the right one');
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('x-ratelimit-limit'), '10');
      assert.equal(answer.headers.get('x-ratelimit-remaining'), String(left));
    }
    const earlier = hashes.count;
    for (const spelled of [email, email.toUpperCase(), ` ${email} `]) {
      assertLimited(await signIn(service, spelled, OWNER_PASSWORD), 10);
    }
    assert.equal(hashes.count, earlier);
  });

  it('200: right ones count as well, and another e-mail has a budget of its own', async () => {
    const { document } = await service.tenant();
    const [owner, staff] = document.users ?? [];
    assert.ok(owner && staff);
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await signIn(service, owner.email, OWNER_PASSWORD)).status, 200);
    }
    assertLimited(await signIn(service, owner.email, OWNER_PASSWORD), 10);
    assert.equal((await signIn(service, staff.email, STAFF_PASSWORD)).status, 200);
  });

  it('429: an unknown e-mail has the same budget, so that it does not show', async () => {
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await signIn(service, 'nobody@nowhere.example', OWNER_PASSWORD)).status, 401);
    }
    assertLimited(await signIn(service, 'nobody@nowhere.example', OWNER_PASSWORD), 10);
  });
});

describe('sign-ins from one address', () => {
  it('429: after 100 in a minute, before any password is hashed, whatever X-Forwarded-For says', async () => {
    const node = await startService({ beside: service });
    try {
      const { document } = await node.tenant();
      const earlier = hashes.count;
      for (let count = 0; count < 100; count += 1) {
        assert.equal((await knock(node, { 'x-forwarded-for': `192.0.2.${count}` })).status, 400);
      }
      const email = `owner@${document.slug}.example`;
      assertLimited(await signIn(node, email, OWNER_PASSWORD), 100);
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.200' }), 100);
      assertLimited(await knock(node), 100);
      assert.equal(hashes.count, earlier);
    } finally {
      await node.close();
    }
  });

  it('200: behind a trusted proxy the address is the client, and each has a budget of its own', async () => {
    const node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
    try {
      const { document } = await node.tenant();
      for (let count = 0; count < 100; count += 1) {
        await knock(node, { 'x-forwarded-for': '192.0.2.1' });
      }
      const email = `owner@${document.slug}.example`;
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.1' }), 100);
      // What stands left of the last address is the client's own claim.
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.2, 192.0.2.1' }), 100);
      assert.equal((await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.2' })).status, 200);
    } finally {
      await node.close();
    }
  });

  it('429: a /64 of IPv6 is one address, and an IPv4 address is the same in every form', async () => {
    const node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
    const from = (address: string) => knock(node, { 'x-forwarded-for': address });
    try {
      for (let count = 0; count < 50; count += 1) {
        assert.equal((await from(`2001:db8:0:1::${count}`)).status, 400);
        assert.equal((await from(`2001:db8:0:1:${count}:1:1:1`)).status, 400);
        assert.equal((await from('192.0.2.3')).status, 400);
        assert.equal((await from('::ffff:192.0.2.3')).status, 400);
      }
      assertLimited(await from('2001:db8:0:1:ffff::'), 100);
      assertLimited(await from('2001:0DB8:0:1::1'), 100);
      assertLimited(await from('192.0.2.3'), 100);
      assertLimited(await from('::ffff:c000:203'), 100);
      for (const other of ['2001:db8:0:2::1', '2001:db8::1', '192.0.2.4', '::ffff:192.0.2.5', '::1', 'unknown']) {
        assert.equal((await from(other)).status, 400, other);
      }
    } finally {
      await node.close();
    }
  });
});
