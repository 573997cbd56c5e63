import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import fastJsonStringify from 'fast-json-stringify';
import { assertError } from '#test/support/answers.ts';
import { startService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { exchange } from '#test/support/raw-http.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { IN_WORDS } from '#platform/lib/patterns.ts';
import { compileSchema } from '#platform/lib/validation.ts';
import { TenantDocument } from './tenant-document/schema.ts';
import { buildOpenApiDocuments, readRoutes } from '../../scripts/openapi/openapi.ts';

interface Route {
  path: string;
  methods: string[];
}

async function readDocumentedRoutes(): Promise<Route[]> {
  const documents = Object.values(await buildOpenApiDocuments()) as { paths: Record<string, object> }[];
  return documents
    .flatMap(({ paths }) => Object.entries(paths))
    .map(([path, operations]) => ({
      path: path.replaceAll(/\{\w+\}/g, 'x1'),
      methods: Object.keys(operations).map((method) => method.toUpperCase()),
    }));
}

/** Returns the expected value of the header `Allow`. A route with `GET` also has `HEAD`. */
function allowOf({ methods }: Route): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
}

describe('KEEP_ALIVE_SECONDS', () => {
  it('an idle connection stays open for the configured time, as the header Keep-Alive says, and is then closed', async (t) => {
    for (const keepAliveSeconds of [620, 1]) {
      const service = await startService({ config: { keepAliveSeconds } });
      t.after(() => service.close());
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      t.after(() => socket.destroy());
      socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
      const [response] = await once(socket, 'data');
      assert.match(String(response), new RegExp(`^Keep-Alive: timeout=${keepAliveSeconds}\r$`, 'im'));
      if (keepAliveSeconds === 1) {
        await once(socket.resume(), 'end');
      }
    }
  });
});

const { service, tenant } = await useRestaurant({ features: ['restaurant', 'hotel'] });
const routes = await readDocumentedRoutes();

describe('every route', () => {
  it('the request and response schemas of every route compile', async () => {
    // Compiles all schemas, because the service itself compiles a schema only at its first use. So the start of the service does not find a
    // faulty schema.
    const schemas = (await readRoutes()).map(({ schema }) => schema ?? {});
    const parts = schemas.flatMap(({ body, params, querystring }) => [body, params, querystring]);
    const requests = parts.filter((schema) => schema !== undefined);
    const answers = schemas.flatMap(({ response }) => Object.values(response ?? {}));
    for (const schema of requests) {
      const validator = compileSchema(schema as object);
      validator.isValid(null);
      validator.findFaults(null, 1);
    }
    answers.forEach((schema) => fastJsonStringify(schema as object));
    assert.ok(requests.length > 40 && answers.length > 40, `${requests.length} and ${answers.length}`);
  });

  it('each pattern of a request schema and of the tenant document has words, so that no error message shows a regular expression', async () => {
    const schemas = (await readRoutes()).map(({ schema }) => [schema?.body, schema?.params, schema?.querystring]);
    const words: unknown[] = [];
    JSON.stringify([schemas, TenantDocument], (key, node) => {
      if (key !== DOCUMENTED && typeof node?.pattern === 'string') {
        words.push(node[IN_WORDS]);
      }
      return node;
    });
    assert.ok(words.length > 20, String(words.length));
    for (const each of words) {
      assert.match(String(each), /^must be [^^$\\]+$/);
    }
  });

  it('the OpenAPI documents contain the menu, order, webhook and credential routes of the third-party API', () => {
    const paths = routes.map(({ path, methods }) => `${methods.sort().join('+')} ${path}`);
    for (const path of [
      'GET /v1/third-party/menu/',
      'GET+POST /v1/third-party/orders/',
      'GET /v1/third-party/orders/x1/',
      'POST /v1/third-party/orders/x1/cancel/',
      'POST /v1/third-party/webhook/',
      'GET+POST /v1/third-party/credentials/',
      'POST /v1/third-party/credentials/x1/revoke/',
      'POST /v1/third-party/credentials/x1/rotate/',
    ]) {
      assert.ok(paths.includes(path), path);
    }
  });

  it('400: each call of the staff API with query parameters refuses one that it does not know, and a list of partners ignores it', async () => {
    const withQuery = (await readRoutes()).filter(({ schema, method }) => schema?.querystring && method !== 'HEAD');
    const isOfStaff = ({ url }: { url: string }) => url.startsWith('/v1/staff/');
    const staffRoutes = withQuery.filter(isOfStaff);
    assert.ok(staffRoutes.length > 10);
    for (const { method, url, schema } of staffRoutes) {
      const query = schema?.querystring as { properties: object };
      const answer = await service.call(String(method), `${url}?satus=confirmed`, { headers: tenant.owner });
      assertError(answer, 400, 'invalid_request');
      const known = Object.keys(query.properties).join(', ');
      assert.ok(answer.body.message.includes(`satus: is not a parameter of this call, which knows ${known}.`), url);
    }
    for (const path of ['menu', 'orders', 'hotels/rooms', 'hotels/reservations', 'events', 'credentials']) {
      const headers = path === 'credentials' ? tenant.owner : tenant.partner;
      const answer = await service.call('GET', `/v1/third-party/${path}/?satus=confirmed`, { headers });
      assert.equal(answer.status, 200, path);
    }
  });

  it('405: a route refuses rare methods such as PROPFIND and PURGE, and Allow names the methods that it has', async () => {
    for (const { path, methods } of [...routes.slice(0, 3), { path: '/livez', methods: ['GET'] }]) {
      const allow = allowOf({ path, methods });
      for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'MKCOL', 'PURGE', 'UNLOCK']) {
        const [answer] = await exchange(
          service.url,
          `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
        );
        assert.deepEqual([answer?.status, answer?.headers['allow']], [405, allow], `${method} ${path}`);
      }
    }
  });

  it('405: a wrong method is refused even if the path lacks its trailing slash or has encoded letters or a query', async () => {
    for (const path of ['/v1/third-party/orders', '/v1/third%2Dparty/%6Frders/', '/v1/third-party/orders/?a=%ZZ']) {
      const answer = await service.call('DELETE', path);
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD, POST'], path);
    }
    const answer = await service.call('GET', '/v1/third-party/orders/a%2Fb/cancel');
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST']);
  });

  it('401, 400, 204: without credentials, each sign-in returns 400, the sign-out 204, and every other route 401, with and without a trailing slash', async () => {
    for (const { path, methods } of routes) {
      for (const method of methods) {
        for (const form of [path, path.replace(/\/$/, '')]) {
          const answer = await service.call(method, form);
          const ofSignIn = method === 'DELETE' ? [204, undefined] : [400, 'invalid_request'];
          const expected = path.startsWith('/v1/auth/') ? ofSignIn : [401, 'invalid_credentials'];
          assert.deepEqual([answer.status, answer.body?.code], expected, `${method} ${form}`);
        }
      }
    }
  });

  it('every route with GET also has HEAD, which returns the same status and headers without a body', async () => {
    for (const { path, methods } of routes.filter((route) => route.methods.includes('GET'))) {
      assert.ok(methods.includes('GET'));
      const headers = path.startsWith('/v1/staff/') || path.includes('/credentials/') ? tenant.owner : tenant.partner;
      const get = await service.call('GET', path, { headers });
      const head = await service.call('HEAD', path, { headers });
      assert.equal(head.status, get.status, path);
      assert.equal(head.text, '');
      assert.deepEqual(plainHeaders(head.headers), plainHeaders(get.headers), path);
    }
  });

  it('400: a query parameter that names a tenant is refused in every spelling of the path and of the parameter', async () => {
    for (const target of [
      '/v1/third-party/orders?tenant_id',
      '/v1/third-party/orders/?tenant_id=',
      '/v1/third-party/orders/?tenant%5Fid=1',
      '/v1/third%2Dparty/orders/?tenant_id=1',
      '/v1/third-part%79/%6Frders/?tenant_id=1',
    ]) {
      const answer = await service.call('GET', target, { headers: tenant.partner });
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], target);
    }
  });

  it('200: third-party routes ignore unknown query parameters', async () => {
    const partner = await service.call('GET', '/v1/third-party/orders/?x=1&tenant=2&y[z]=3&__proto__=4&&=5', {
      headers: tenant.partner,
    });
    assert.deepEqual([partner.status, partner.body], [200, []]);
  });
});

/**
 * Headers that the test ignores when it compares the responses to GET and HEAD. They describe the connection or the transfer, or differ
 * from call to call.
 */
const CHANGING_HEADERS =
  /^(?:date|x-request-id|x-ratelimit-(?:remaining|reset)|transfer-encoding|connection|keep-alive)$/;

function plainHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !CHANGING_HEADERS.test(name)));
}
