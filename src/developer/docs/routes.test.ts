import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { exchange } from '#test/support/raw-http.ts';
import { useService } from '#test/support/shared-service.ts';
import { DOCUMENTS } from './api-documents.ts';
import { GUIDE_NAMES } from './guides.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..', '..');
const PAGES = ['/docs/', '/docs/guides/', ...GUIDE_NAMES.map((name) => `/docs/guides/${name}/`)];
const SOURCES = GUIDE_NAMES.map((name) => `/docs/guides/${name}.md`);
const DOCUMENT_PATHS = DOCUMENTS.map(({ name }) => `/openapi/${name}.json`);
const ASSETS = ['site.css', 'guides.css', 'reference.css', 'reference.js', 'copy.js', 'icon.svg', 'scalar.js'].map(
  (name) => `/docs/assets/${name}`,
);
/**
 * One path of each kind of content that the service keeps in memory. The reference page is not kept in memory, because each response has a
 * new nonce.
 */
const CACHED = [
  '/docs/guides/',
  '/docs/guides/errors/',
  '/docs/guides/errors.md',
  '/openapi/third-party.json',
  '/docs/assets/scalar.js',
  '/llms.txt',
];
const ALL = [...PAGES, ...SOURCES, ...DOCUMENT_PATHS, ...ASSETS, '/llms.txt'];

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const service = await useService();

describe('site', () => {
  async function ask(method: string, path: string, headers: Record<string, string> = {}) {
    const response = await fetch(service.url + path, { method, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const get = (path: string, headers?: Record<string, string>) => ask('GET', path, headers);

  it('200: each path of the site needs no credential, counts against no rate limit, and works with and without a trailing slash', async () => {
    for (const path of ALL) {
      const { status, headers, text } = await get(path);
      assert.equal(status, 200, path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('x-ratelimit-limit'), null, path);
      // The page must be the same without and with the slash at the end of its path. Only the reference page differs, because each response
      // has a new nonce.
      const other = await get(path.endsWith('/') ? path.slice(0, -1) : `${path}/`);
      assert.equal(other.status, 200, path);
      if (path !== '/docs/') assert.equal(other.text, text, path);
    }
  });

  it('200: HEAD returns the content type, entity tag and cache header of GET, without the body', async () => {
    for (const path of ['/docs/', ...CACHED]) {
      const [got, head] = await Promise.all([get(path), ask('HEAD', path)]);
      assert.deepEqual([head.status, head.text], [200, ''], path);
      for (const name of ['content-type', 'etag', 'cache-control']) {
        assert.equal(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
      }
    }
  });

  it('200: each path of the site has the expected content type, for example text/css for a style sheet', async () => {
    const types: [string[], string][] = [
      [PAGES, 'text/html; charset=utf-8'],
      [SOURCES, 'text/markdown; charset=utf-8'],
      [DOCUMENT_PATHS, 'application/json; charset=utf-8'],
      [ASSETS.filter((path) => path.endsWith('.css')), 'text/css; charset=utf-8'],
      [ASSETS.filter((path) => path.endsWith('.js')), 'text/javascript; charset=utf-8'],
      [['/docs/assets/icon.svg'], 'image/svg+xml'],
      [['/llms.txt'], 'text/plain; charset=utf-8'],
    ];
    for (const [paths, type] of types) {
      for (const path of paths) {
        const { status, headers } = await get(path);
        assert.deepEqual([status, headers.get('content-type')], [200, type], path);
      }
    }
  });

  it('200: the OpenAPI documents and guides on the site have exactly the bytes of the files in the repository', async () => {
    for (const { name } of DOCUMENTS) {
      const file = await readFile(join(REPOSITORY, 'contract', `${name}.json`), 'utf8');
      const { status, text } = await get(`/openapi/${name}.json`);
      assert.deepEqual([status, text], [200, file]);
    }
    for (const name of GUIDE_NAMES) {
      const file = await readFile(join(REPOSITORY, 'docs', 'guides', `${name}.md`), 'utf8');
      const { status, text } = await get(`/docs/guides/${name}.md`);
      assert.deepEqual([status, text], [200, file]);
    }
  });

  it('200: a caller that accepts gzip gets gzip content, other callers get plain content, and the two contents have different entity tags', async () => {
    for (const path of CACHED) {
      const plain = await get(path, { 'accept-encoding': 'identity' });
      const gzipped = await get(path, { 'accept-encoding': 'gzip' });
      assert.deepEqual([plain.status, gzipped.status], [200, 200], path);
      assert.equal(gzipped.headers.get('content-encoding'), 'gzip', path);
      assert.equal(plain.headers.get('content-encoding'), null, path);
      assert.equal(gzipped.text, plain.text, path);
      assert.equal(plain.headers.get('content-length'), String(Buffer.byteLength(plain.text)), path);
      assert.equal(plain.headers.get('vary'), 'accept-encoding');
      assert.notEqual(plain.headers.get('etag'), gzipped.headers.get('etag'), path);
    }
  });

  it('304: a request with the entity tag of the gzip or plain content gets no body; 200: a request with another entity tag succeeds', async () => {
    for (const path of CACHED) {
      for (const coding of ['gzip', 'identity']) {
        const first = await get(path, { 'accept-encoding': coding });
        const headers = { 'accept-encoding': coding, 'if-none-match': first.headers.get('etag') ?? '' };
        const second = await get(path, headers);
        assert.deepEqual([second.status, second.text], [304, ''], path);
        assert.equal((await get(path, { ...headers, 'if-none-match': '"other"' })).status, 200, path);
      }
    }
  });

  it('200: Cache-Control is max-age of a day for the script of Scalar, no-store for the reference page, otherwise no-cache', async () => {
    for (const path of ['/docs/', ...CACHED]) {
      const expected = path === '/docs/' ? 'no-store' : 'public, no-cache';
      const { status, headers } = await get(path);
      assert.equal(status, 200, path);
      assert.equal(
        headers.get('cache-control'),
        path.endsWith('/scalar.js') ? 'public, max-age=86400' : expected,
        path,
      );
    }
  });

  it('a page loads content only from the service, has no inline script and no style element, and may not be in a frame', async () => {
    for (const path of PAGES) {
      const { headers, text } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]) {
        assert.ok(policy.split('; ').includes(part), `${path} ${part}`);
      }
      assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe|style-src [^;]*unsafe/, path);
      assert.doesNotMatch(text, /<script(?![^>]*\ssrc="\/)|\son\w+=|<style|(?:src|href)="(?!\/|#|https:)/, path);
    }
  });

  it('at each request the reference page has a new nonce of at least 16 bytes, which its content security policy names', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, text } = await get('/docs/');
        const [, nonce = ''] = /nonce="([^"]+)"/.exec(text) ?? [];
        assert.ok(headers.get('content-security-policy')?.includes(`'nonce-${nonce}'`));
        return nonce;
      }),
    );
    assert.notEqual(nonces[0], nonces[1]);
    assert.ok(nonces.every((nonce) => Buffer.from(nonce, 'base64').length >= 16));
  });

  it('200: for each internal link of a page, the target path exists, and the anchor in the link exists too, unless the target is the API reference', async () => {
    const texts = new Map<string, string>();
    const read = async (path: string) => {
      const { status, text } = await get(path);
      assert.equal(status, 200, path);
      texts.set(path, text);
      return text;
    };
    for (const page of PAGES) {
      for (const [, href = ''] of (await read(page)).matchAll(/ href="([^"]*)"/g)) {
        if (/^https?:|^mailto:/.test(href)) continue;
        const [path = '', fragment] = href.split('#');
        const target = path === '' ? page : path;
        const text = texts.get(target) ?? (await read(target));
        if (fragment !== undefined && target !== '/docs/') {
          assert.ok(text.includes(` id="${fragment}"`), `${page} links to ${href}`);
        }
      }
    }
  });

  it('llms.txt begins with the name Roomservice and a summary, and lists every guide and OpenAPI document', async () => {
    const { text } = await get('/llms.txt');
    assert.match(text, /^# Roomservice\n\n> .+\n/);
    const links = [...text.matchAll(/^- \[.+\]\((.+)\): .+$/gm)].map(([, path]) => path);
    assert.deepEqual(links, [...SOURCES, ...DOCUMENT_PATHS]);
  });

  it('302: GET and HEAD of / lead a browser to the reference', async () => {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(`${service.url}/?from=mail`, { method, headers: BROWSER, redirect: 'manual' });
      assert.deepEqual([response.status, response.headers.get('location')], [302, '/console/']);
    }
  });

  it('200: GET / tells a program where the documentation, the OpenAPI documents and the health checks are', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html;q=0']) {
      const { status, headers, text } = await get('/', { accept });
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8']);
      const { name, description, ...links } = JSON.parse(text) as Record<string, string | string[]>;
      assert.deepEqual([name, typeof description], ['Roomservice', 'string']);
      assert.deepEqual(links['openapi'], DOCUMENT_PATHS);
      for (const path of Object.values(links).flat()) {
        assert.equal((await get(path)).status, 200, path);
      }
    }
  });

  it('404: a browser gets a page with working links for each unknown path below /docs/, also by HEAD', async () => {
    for (const path of [
      '/docs/none',
      '/docs/guides/none/',
      '/docs/assets/none.css',
      '/docs/a/b/c/',
      '/docs/%ZZ',
      '/docs/%00',
      '/docs/<script>',
    ]) {
      const { status, headers, text } = await get(path, BROWSER);
      assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], path);
      assert.equal(
        headers.get('content-security-policy'),
        (await get('/docs/guides/')).headers.get('content-security-policy'),
      );
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.doesNotMatch(text, /none|<script>/);
      const head = await ask('HEAD', path, BROWSER);
      assert.deepEqual([head.status, head.text], [404, ''], path);
    }
    const { text } = await get('/docs/none', BROWSER);
    for (const [, href = ''] of text.matchAll(/ href="([^"#]+)"/g)) {
      assert.equal((await get(href)).status, 200, href);
    }
    for (const path of ['/none', '/openapi/none.json', '/v1/docs/']) {
      const { status, headers } = await get(path, BROWSER);
      assert.deepEqual([status, headers.get('content-type')], [404, 'application/json; charset=utf-8'], path);
    }
  });

  it('404: a path that is not registered is refused, even with encoded slashes, dots or null bytes', async () => {
    for (const path of [
      '/docs/guides/none/',
      '/docs/guides/none.md',
      '/docs/guides/quick-start.html',
      '/docs/guides/quick-start.md.md',
      '/docs/guides/..%2f..%2fREADME.md',
      '/docs/guides/%2e%2e%2f%2e%2e%2fpackage.json',
      '/docs/guides/quick-start%00.md',
      '/docs/assets/',
      '/docs/assets/..%2froutes.ts',
      '/docs/assets/%2e%2e/routes.ts',
      '/openapi/',
      '/openapi/none.json',
      '/openapi/..%2fpackage.json',
    ]) {
      const [answer] = await exchange(service.url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      assert.equal(answer?.status, 404, path);
      assert.deepEqual(JSON.parse(answer.body), {
        code: 'error',
        message: 'This path does not exist. /docs/ lists the paths that exist.',
      });
    }
  });

  it('405: POST to a path of the site is refused, and the header Allow names GET and HEAD', async () => {
    for (const path of ['/', '/docs/', '/docs/guides/', '/docs/guides/errors/', '/openapi/pms.json', '/llms.txt']) {
      const { status, headers, body } = await service.call('POST', path, { json: {} });
      assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD'], path);
      assert.deepEqual(body, { code: 'error', message: 'The method must be GET or HEAD.' });
    }
  });
});
