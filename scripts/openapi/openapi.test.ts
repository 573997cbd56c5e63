import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OpenApiDocument } from '#test/support/openapi-documents.ts';
import demo from '../../examples/demo/tenant.json' with { type: 'json' };
import { ERRORS } from '#platform/errors.ts';
import type { OrderCreate } from '#restaurant/orders/schema.ts';
import { signBody } from '#webhooks/deliveries/signature.ts';
import { buildOpenApiDocuments } from './openapi.ts';

const documents = (await buildOpenApiDocuments()) as Record<string, OpenApiDocument>;
const operationOf = (name: string, path: string, method: string) => {
  const operation = documents[name]?.paths[path]?.[method];
  assert.ok(operation, `${method} ${path}`);
  return operation;
};
const ORDERS = '/v1/third-party/orders/';
const MENU = '/v1/third-party/menu/';

describe('the OpenAPI documents', () => {
  it('two builds of the OpenAPI documents are identical', async () => {
    assert.equal(JSON.stringify(await buildOpenApiDocuments()), JSON.stringify(documents));
  });

  it('each operation has its own operation id', () => {
    const ids = Object.values(documents).flatMap(({ paths }) =>
      Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId)),
    );
    assert.ok(ids.length > 30 && ids.every((id) => id !== ''));
    assert.equal(new Set(ids).size, ids.length);
  });

  it('the third-party and the staff document list only the security schemes that they use', () => {
    const schemes = (name: string) => Object.keys(documents[name]?.components['securitySchemes'] ?? {});
    assert.deepEqual(schemes('third-party'), ['apiKey', 'apiSecret', 'bearer', 'sessionCookie', 'consoleHeader']);
    assert.deepEqual(schemes('staff'), ['bearer', 'sessionCookie', 'consoleHeader']);
    assert.deepEqual(operationOf('third-party', ORDERS, 'post').security, [{ apiKey: [], apiSecret: [] }]);
    assert.deepEqual(operationOf('staff', '/v1/staff/orders/', 'get').security, [
      { bearer: [] },
      { sessionCookie: [], consoleHeader: [] },
    ]);
    assert.deepEqual(operationOf('staff', '/v1/auth/token/', 'post').security, []);
  });

  it('the staff OpenAPI document describes the event stream /v1/staff/changes/ with the schema of its data and the status 429', () => {
    const { responses } = operationOf('staff', '/v1/staff/changes/', 'get');
    const { content = {} } = responses['200'] ?? {};
    assert.deepEqual(Object.keys(content), ['text/event-stream']);
    const schema = content['text/event-stream']?.schema as { type: string; contentSchema: object };
    assert.deepEqual([schema.type, schema.contentSchema], ['string', { $ref: '#/components/schemas/LiveChange' }]);
    assert.ok(documents['staff']?.components['schemas']?.['LiveChange']);
    assert.ok(responses['429']);
  });

  it('operations of owners, staff and channels have no 429, because they have no budget of requests, except the few that count calls', () => {
    const counted = Object.values(documents).flatMap(({ paths }) =>
      Object.values(paths).flatMap((methods) =>
        Object.values(methods)
          .filter(({ responses, security }) => responses['429'] && !/apiKey/i.test(JSON.stringify(security)))
          .map(({ operationId }) => operationId),
      ),
    );
    assert.deepEqual(counted.toSorted(), [
      'changePassword',
      'choosePassword',
      'pairDisplay',
      'sendTestCall',
      'signIn',
      'startSession',
      'watchChanges',
      'welcomeOwner',
    ]);
  });

  it('a request body has three content types, and the two form types document nested values as JSON text', () => {
    const content = operationOf('third-party', ORDERS, 'post').requestBody?.content ?? {};
    assert.deepEqual(Object.keys(content), [
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
    for (const [type, form] of Object.entries(content)) {
      const encoding = type === 'application/json' ? undefined : { contentType: 'application/json' };
      assert.deepEqual(
        'encoding' in form ? form.encoding : {},
        encoding ? { items: encoding, customer: encoding } : {},
      );
    }
  });

  it('the two examples of an order are a plain dish, and a dish with a variant and an add-on, both from the demo menu', () => {
    const content = operationOf('third-party', ORDERS, 'post').requestBody?.content['application/json'];
    const examples = Object.values(content?.examples ?? {}) as { summary: string; value: OrderCreate }[];
    assert.deepEqual(
      examples.map(({ summary, value }) => [summary.split(':')[0], value.items.map((item) => Object.keys(item))]),
      [
        ['A plain dish', [['item_id', 'quantity']]],
        ['With a variant and an add-on', [['item_id', 'quantity', 'variant_id', 'addons']]],
      ],
    );
    const sandbox = new Set(demo.menu.dishes.map(({ sku }) => sku));
    assert.ok(examples.every(({ value }) => value.items.every(({ item_id: sku }) => sandbox.has(sku))));
  });

  it('an operation documents the errors of its access checks, body and parameters, and the errors that its route names', () => {
    const codesOf = (path: string, method: string) =>
      Object.entries(operationOf('third-party', path, method).responses).flatMap(([status, { content }]) =>
        Number(status) < 400 || status === '503'
          ? []
          : Object.keys(content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
      );
    assert.deepEqual(codesOf(ORDERS, 'post'), [
      '400 invalid_request',
      '400 item_not_found',
      '400 variant_not_found',
      '400 addon_not_found',
      '401 invalid_credentials',
      '403 error',
      '409 restaurant_closed',
      '413 error',
      '415 error',
      '429 rate_limited',
    ]);
    assert.deepEqual(codesOf('/v1/third-party/events/', 'get'), [
      '400 invalid_request',
      '401 invalid_credentials',
      '429 rate_limited',
    ]);
    assert.ok(codesOf(ORDERS, 'get').includes('404 error'), 'the 404 for a page after the last one is missing');
  });

  it('a documented response lists the headers of its status, for example X-RateLimit-Limit, ETag or Retry-After', () => {
    const headersOf = (path: string, method: string, status: string) =>
      Object.keys(operationOf('third-party', path, method).responses[status]?.headers ?? {});
    const counted = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
    assert.deepEqual(headersOf(ORDERS, 'post', '201'), counted);
    assert.deepEqual(headersOf(ORDERS, 'post', '409'), [...counted, 'Retry-After']);
    assert.deepEqual(headersOf(ORDERS, 'post', '200'), [...counted, 'Idempotent-Replayed']);
    assert.deepEqual(headersOf(ORDERS, 'post', '401'), ['X-Request-Id', 'WWW-Authenticate']);
    assert.deepEqual(headersOf(ORDERS, 'post', '429'), [...counted, 'Retry-After']);
    assert.deepEqual(headersOf(ORDERS, 'post', '503'), ['X-Request-Id', 'Retry-After']);
    assert.deepEqual(headersOf(MENU, 'get', '200'), [...counted, 'ETag']);
    assert.deepEqual(headersOf(MENU, 'get', '304'), [...counted, 'ETag']);
  });

  it('every error code of the catalogue appears in an example of the documents', () => {
    const text = JSON.stringify(documents);
    for (const code of Object.keys(ERRORS)) {
      assert.ok(text.includes(`"code":"${code}"`), code);
    }
  });
});

describe('the events in the OpenAPI documents', () => {
  const { webhooks = {} } = documents['third-party'] ?? {};

  it('the third-party OpenAPI document describes exactly four webhook events: order.status_changed, reservation.created, reservation.modified and reservation.cancelled', () => {
    assert.deepEqual(Object.keys(webhooks), [
      'order.status_changed',
      'reservation.created',
      'reservation.modified',
      'reservation.cancelled',
    ]);
  });

  it('the example signature of each event is valid for the secret in the example of the webhook registration', () => {
    const registered = operationOf('third-party', '/v1/third-party/webhook/', 'post').responses['200'];
    const examples = Object.values(registered?.content?.['application/json']?.examples ?? {});
    assert.ok(examples[0]);
    const { webhook_secret: secret } = examples[0].value as { webhook_secret: string };
    for (const { post } of Object.values(webhooks)) {
      const sent = post.requestBody?.content['application/json']?.examples?.['example']?.value as { event_id: string };
      const headers = new Map(post.parameters?.map(({ name, example }) => [name, String(example)]));
      assert.equal(headers.get('X-Service-Event-Id'), sent.event_id);
      const timestamp = Number(headers.get('X-Service-Timestamp'));
      assert.equal(headers.get('X-Service-Signature'), signBody(secret, timestamp, JSON.stringify(sent)));
    }
  });
});
