import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { useRestaurant } from '#test/support/shared-service.ts';

const MENU = '/v1/third-party/menu/';

const { service, tenant } = await useRestaurant();

describe('GET /v1/third-party/menu/ with gzip', () => {
  /** Makes a request with only the credential and the given headers. Returns the raw bytes of the response, without decompressing them. */
  async function get(headers: Record<string, string>, path = MENU) {
    const answer = await request(service.url + path, { headers: { ...tenant.partner, ...headers } });
    return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  }

  it('200: the menu is gzipped only if the request accepts gzip, and the gzipped menu has another ETag than the plain menu', async () => {
    const [plain, gzipped] = [await get({}), await get({ 'accept-encoding': 'gzip, br' })];
    assert.deepEqual([plain.headers['content-encoding'], gzipped.headers['content-encoding']], [undefined, 'gzip']);
    assert.deepEqual(gunzipSync(gzipped.bytes), plain.bytes);
    assert.notEqual(
      gzipped.headers['etag'],
      plain.headers['etag'],
      'different bytes need a different ETag (RFC 9110 §8.8.3.3)',
    );
    for (const { headers, bytes } of [plain, gzipped]) {
      assert.deepEqual([headers['vary'], headers['content-length']], ['accept-encoding', String(bytes.length)]);
    }
  });

  it('304, 200: the ETag of the plain menu gets 304 for the plain menu, but gets 200 if the request accepts gzip', async () => {
    for (const form of [{}, { 'accept-encoding': 'gzip' }]) {
      const { etag } = (await get(form)).headers;
      const again = await get({ ...form, 'if-none-match': String(etag) });
      assert.deepEqual([again.statusCode, again.bytes.length], [304, 0]);
      assert.deepEqual([again.headers['etag'], again.headers['vary']], [etag, 'accept-encoding']);
      assert.equal(again.headers['content-encoding'], undefined);
    }
    const { etag } = (await get({})).headers;
    assert.equal((await get({ 'accept-encoding': 'gzip', 'if-none-match': String(etag) })).statusCode, 200);
  });

  it('200: a page of the menu is not gzipped, even if the request accepts gzip', async () => {
    const { headers, bytes } = await get({ 'accept-encoding': 'gzip' }, `${MENU}?page=1`);
    assert.equal(headers['content-encoding'], undefined);
    assert.equal(JSON.parse(bytes.toString()).count, 2);
  });
});
