import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { CHANNELS, makeChannel } from '#test/support/channel.ts';
import { book, reservationPath } from '#test/support/hotel.ts';
import type { CallOptions } from '#test/support/http.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openSession, personId, SESSION, SESSIONS } from '#test/support/sessions.ts';
import { placeOrder } from '#test/support/webhooks.ts';
import { readRoutes } from '../../../scripts/openapi/openapi.ts';
import { MAX_BODY_BYTES, MAX_STRANGER_BODY_BYTES } from '../lib/bounds.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const PMS_CREDENTIALS = '/v1/channel-manager/credentials/';

const typed = (type: string, body: string): CallOptions => ({ headers: { 'content-type': type }, body });

const BODIES: Record<string, CallOptions> = {
  'JSON that the operation does not use': { json: { reason: 'late', id: 5 } },
  'malformed JSON': typed('application/json', '{'),
  'JSON as a form': typed('application/x-www-form-urlencoded', '{"a":1}'),
  'a malformed form': typed('application/x-www-form-urlencoded', 'a=%zz&__proto__=1'),
  'multipart without a boundary': typed('multipart/form-data', 'a'),
  'multipart that is cut short': typed('multipart/form-data; boundary=b', '--b\r\n'),
  'a text': typed('text/plain', 'please'),
  'a malformed content type': typed(';', 'a'),
  'another charset': typed('application/json; charset=utf-16', '{}'),
  'a body that says it is compressed': { headers: { 'content-encoding': 'gzip' }, json: {} },
  'the largest allowed body': typed('application/octet-stream', 'a'.repeat(MAX_STRANGER_BODY_BYTES)),
};

/** Operation to test. `first` is the status of its first call, and `again` is the status of each later call with the same path. */
interface Operation {
  name: string;
  method?: 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  first?: number;
  again: number;
}

/** Covers the operations that take no body: those that contract §4 lists with "no body" (rule 38), and those of the staff API. */
const { service, hotel } = await useHotel();

describe('an operation that takes no body', () => {
  let operations: Operation[];

  before(async () => {
    const { owner, partner } = hotel;
    const order = await placeOrder(service, partner, 'N-1');
    await book(service, hotel, { external_reservation_id: 'N-1' });
    const make = async (path: string) => (await service.call('POST', path, { headers: owner })).body.id;
    const { id: channel } = await makeChannel(service, hotel);
    const rotated = await makeChannel(service, hotel);
    const session = await openSession(service, hotel.tenantId, 'owner');
    const person = await personId(service, hotel.tenantId, 'staff');
    const display = await service.call('POST', '/v1/staff/displays/', {
      headers: owner,
      json: { label: 'Kitchen', areas: ['orders'] },
    });
    operations = [
      { name: 'cancelOrder', path: `/v1/third-party/orders/${order.externalId}/cancel/`, headers: partner, again: 409 },
      { name: 'cancelReservation', path: reservationPath('N-1', 'cancel/'), headers: partner, again: 409 },
      {
        name: 'rotateCredential',
        path: `${CREDENTIALS}${await make(CREDENTIALS)}/rotate/`,
        headers: owner,
        again: 200,
      },
      {
        name: 'revokeCredential',
        path: `${CREDENTIALS}${await make(CREDENTIALS)}/revoke/`,
        headers: owner,
        again: 200,
      },
      {
        name: 'rotatePmsCredential',
        path: `${PMS_CREDENTIALS}${await make(PMS_CREDENTIALS)}/rotate/`,
        headers: owner,
        again: 200,
      },
      {
        name: 'revokePmsCredential',
        path: `${PMS_CREDENTIALS}${await make(PMS_CREDENTIALS)}/revoke/`,
        headers: owner,
        again: 200,
      },
      { name: 'rotateChannel', path: `${CHANNELS}${rotated.id}/rotate/`, headers: owner, again: 200 },
      {
        name: 'removeCredentialWebhook',
        path: `/v1/staff/credentials/${hotel.credential.id}/webhook/remove/`,
        headers: owner,
        again: 200,
      },
      { name: 'revokeChannel', path: `${CHANNELS}${channel}/revoke/`, headers: owner, again: 200 },
      { name: 'endSession', path: `${SESSIONS}${session.id}/end/`, headers: owner, again: 200 },
      { name: 'endOwnSession', method: 'DELETE', path: SESSION, headers: {}, first: 204, again: 204 },
      { name: 'resetPerson', path: `/v1/staff/people/${person}/reset/`, headers: owner, again: 200 },
      { name: 'removeDisplay', path: `/v1/staff/displays/${display.body.id}/remove/`, headers: owner, again: 200 },
      {
        name: 'sendTestCall',
        path: `/v1/staff/credentials/${hotel.credential.id}/ping/`,
        headers: owner,
        first: 409,
        again: 409,
      },
      { name: 'endPause', method: 'DELETE', path: '/v1/staff/pause/', headers: owner, again: 200 },
    ];
  });

  it('the tests of ignored bodies cover every operation of the API that takes no body, and no other operation', async () => {
    const routes = (await readRoutes()).filter(
      ({ method, schema }) => method !== 'GET' && method !== 'HEAD' && !schema?.body,
    );
    const names = routes.map(({ schema }) => schema?.operationId);
    assert.deepEqual(new Set(names), new Set(operations.map(({ name }) => name)));
    assert.equal(names.length, operations.length);
  });

  it('413: an operation that takes no body refuses a body above 256 KiB', async () => {
    for (const { name, method = 'POST', path, headers } of operations) {
      const answer = await service.call(method, path, { headers, body: 'a'.repeat(MAX_BODY_BYTES + 1) });
      assert.deepEqual([answer.status, answer.body.code], [413, 'error'], name);
    }
  });

  it('200, 204, 409: an operation that takes no body ignores valid and invalid bodies of at most 16 KiB', async () => {
    const sendAll = async ({ name, method = 'POST', path, headers, first = 200, again }: Operation) => {
      let expected = first;
      for (const [what, options] of Object.entries(BODIES)) {
        const answer = await service.call(method, path, { ...options, headers: { ...headers, ...options.headers } });
        assert.equal(answer.status, expected, `${name} with ${what}: ${answer.text}`);
        expected = again;
      }
    };
    await Promise.all(operations.map(sendAll));
  });
});
