import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
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

/**
 * Makes a sign-in call without a body. The call counts as a sign-in from the client address, but it is fast, because no password is hashed.
 */
const callWithoutBody = (node: Node, headers: Record<string, string> = {}) =>
  node.call('POST', '/v1/auth/token/', { headers });

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
  it('429: after 10 sign-ins a minute with one e-mail in any letter case, even the right password is refused before hashing', async () => {
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

  it('200: successful sign-ins count against the limit of sign-ins with the e-mail, and another e-mail has its own limit', async () => {
    const { document } = await service.tenant();
    const [owner, staff] = document.users ?? [];
    assert.ok(owner && staff);
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await signIn(service, owner.email, OWNER_PASSWORD)).status, 200);
    }
    assertLimited(await signIn(service, owner.email, OWNER_PASSWORD), 10);
    assert.equal((await signIn(service, staff.email, STAFF_PASSWORD)).status, 200);
  });

  it('429: an unknown e-mail has the same limit of 10 sign-ins a minute as a known e-mail', async () => {
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await signIn(service, 'nobody@nowhere.example', OWNER_PASSWORD)).status, 401);
    }
    assertLimited(await signIn(service, 'nobody@nowhere.example', OWNER_PASSWORD), 10);
  });
});

describe('sign-ins from one address', () => {
  it('429: after 100 sign-in calls from one address in a minute, more calls are refused before hashing, even with another X-Forwarded-For', async () => {
    const node = await startService({ beside: service });
    try {
      const { document } = await node.tenant();
      const earlier = hashes.count;
      for (let count = 0; count < 100; count += 1) {
        assert.equal((await callWithoutBody(node, { 'x-forwarded-for': `192.0.2.${count}` })).status, 400);
      }
      const email = `owner@${document.slug}.example`;
      assertLimited(await signIn(node, email, OWNER_PASSWORD), 100);
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.200' }), 100);
      assertLimited(await callWithoutBody(node), 100);
      assert.equal(hashes.count, earlier);
    } finally {
      await node.close();
    }
  });

  it('200: behind a trusted proxy, each client address of X-Forwarded-For has its own limit of sign-ins', async () => {
    const node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
    try {
      const { document } = await node.tenant();
      for (let count = 0; count < 100; count += 1) {
        await callWithoutBody(node, { 'x-forwarded-for': '192.0.2.1' });
      }
      const email = `owner@${document.slug}.example`;
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.1' }), 100);
      // The service trusts only the last address in `X-Forwarded-For`, because the client itself may have sent the addresses before it.
      assertLimited(await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.2, 192.0.2.1' }), 100);
      assert.equal((await signIn(node, email, OWNER_PASSWORD, { 'x-forwarded-for': '192.0.2.2' })).status, 200);
    } finally {
      await node.close();
    }
  });

  it('429: all addresses of an IPv6 /64 network share one limit of sign-ins, and so do all notations of an IPv4 address', async () => {
    const node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
    const from = (address: string) => callWithoutBody(node, { 'x-forwarded-for': address });
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

  it('400: a client address has one limit, whatever port, brackets or zone a trusted proxy writes; a text that is no address counts as the proxy', async () => {
    const clients: [client: string, texts: string[]][] = [
      [
        '192.0.2.1',
        ['192.0.2.1', '192.0.2.1:51234', ' 192.0.2.1:443 ', '[::ffff:192.0.2.1]:51235', '::ffff:c000:201%1'],
      ],
      ['192.0.2.1', [',192.0.2.1,, ', '192.0.2.9, 192.0.2.1:1', 'unknown, 192.0.2.1:2', '192.0.2.1, 127.0.0.1:8080']],
      [
        '2001:db8::',
        ['2001:db8::1', '[2001:db8::1]:51234', '[2001:DB8::2]', '2001:db8::3%eth0', '[2001:db8::4%25en-0]:9'],
      ],
      [
        'proxy',
        ['', ' ', ',', 'unknown', '_hidden', '_gw:1', 'client.example', '192.0.2.1:x', '192.0.2.300', '0xc0000201'],
      ],
      ['proxy', ['3221225985', '192.0.2.1/32', '[]', '[2001:db8::1', 'unix:', '2001:db8::1::2', '192.0.2.1, unknown']],
      [
        'proxy',
        ['192.0.2.1, _hidden, 127.0.0.1', 'for=192.0.2.1', "'; DROP TABLE session", '١٩٢.٠.٢.١', 'é'.repeat(500)],
      ],
    ];
    const node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
    try {
      const left: Record<string, number> = {};
      for (const [client, texts] of clients) {
        for (const text of texts) {
          // `fetch` sends only the bytes of Latin-1 in a header, so the text is written as the bytes of UTF-8.
          const { headers } = await callWithoutBody(node, { 'x-forwarded-for': Buffer.from(text).toString('latin1') });
          left[client] = (left[client] ?? 100) - 1;
          assert.equal(headers.get('x-ratelimit-remaining'), String(left[client]), text);
        }
      }
    } finally {
      await node.close();
    }
  });
});
