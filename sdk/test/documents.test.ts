import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ErrorCode as CodeOfService } from '../../src/platform/errors.ts';
import type { EventInput } from '../../src/webhooks/events/events.ts';
import { ROUTES as PMS } from '../src/generated/pms.ts';
import { ROUTES as THIRD_PARTY } from '../src/generated/third-party.ts';
import type { ServiceErrorCode, WebhookEvent } from '../src/index.ts';

const METHODS = new Set(['get', 'put', 'post', 'patch', 'delete']);

function operationIds(name: string): string[] {
  const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, `../../contract/${name}.json`), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths)
    .flatMap((path) => Object.entries(path))
    .flatMap(([method, { operationId }]) => (METHODS.has(method) ? [operationId] : []));
}

/** The type `true` if every value of A is a value of B, and every value of B is a value of A. Otherwise the type `false`. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

describe('operations of the SDK', () => {
  test('the SDK has every third-party operation of the OpenAPI document, except those that only a signed-in owner may call', () => {
    const ownerOperations = ['createCredential', 'listCredentials', 'revokeCredential', 'rotateCredential'];
    assert.deepEqual([...Object.keys(THIRD_PARTY), ...ownerOperations].sort(), operationIds('third-party').sort());
  });

  test('the SDK has every PMS operation of the OpenAPI document, except those that only owners and booking sites may call', () => {
    const ownerOperations = ['createPmsCredential', 'listPmsCredentials', 'revokePmsCredential', 'rotatePmsCredential'];
    const channelOperations = ['createChannel', 'listChannels', 'revokeChannel', 'rotateChannel', 'receiveReservation'];
    assert.deepEqual(
      [...Object.keys(PMS), ...ownerOperations, ...channelOperations].sort(),
      operationIds('pms').sort(),
    );
  });
});

test('the types of the SDK list exactly the error codes and event types of the service', () => {
  const codes: Same<ServiceErrorCode, CodeOfService> = true;
  const events: Same<WebhookEvent['event'], EventInput['type']> = true;
  assert.ok(codes && events);
});
