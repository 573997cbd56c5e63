import assert from 'node:assert/strict';
import type { TestChannel } from '../support/channel.ts';
import type { TestService } from '../support/service.ts';

/** Master key of the dumps. It protects no real data. */
export const MASTER_KEY = Buffer.alloc(32, 'only for dumps of test data').toString('base64');

type Headers = Record<string, string>;

/**
 * Credentials, ids and responses that callers got from a release before its data was dumped. They must still be valid after the upgrade.
 */
export interface Dump {
  partner: Headers;
  pms: Headers;
  channel: TestChannel;
  webhookSecret: string;
  /** Cursor of the feed after the first two events. */
  cursor: string;
  /** Id of the room type Double. */
  roomType: string;
  /** Responses of the release to `READS`, by path. */
  answers: Record<string, unknown>;
}

/** Read calls, each with its caller. An upgrade must not change their responses. No response depends on the current time. */
export const READS = [
  { caller: 'partner', path: '/v1/third-party/menu/' },
  { caller: 'partner', path: '/v1/third-party/orders/' },
  { caller: 'partner', path: '/v1/third-party/hotels/rooms/' },
  { caller: 'partner', path: '/v1/third-party/hotels/reservations/' },
  { caller: 'partner', path: '/v1/third-party/events/' },
  { caller: 'pms', path: '/v1/channel-manager/pms/properties/' },
  { caller: 'pms', path: '/v1/channel-manager/pms/reservations/' },
  { caller: 'owner', path: '/v1/channel-manager/channels/' },
  { caller: 'owner', path: '/v1/staff/orders/' },
  { caller: 'owner', path: '/v1/staff/reservations/' },
  { caller: 'owner', path: '/v1/staff/menu/' },
  { caller: 'owner', path: '/v1/staff/properties/' },
] as const;

/** Sends all calls of `READS`. @returns the responses by path */
export async function readAll(
  service: Pick<TestService, 'call'>,
  callers: Record<(typeof READS)[number]['caller'], Headers>,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const { caller, path } of READS) {
    const { status, body, text } = await service.call('GET', path, { headers: callers[caller] });
    assert.equal(status, 200, `${path}: ${text}`);
    answers[path] = body;
  }
  return answers;
}

/** Signs in. @returns the headers that authenticate calls of this user */
export async function signIn(service: Pick<TestService, 'call'>, email: string, password: string): Promise<Headers> {
  const { status, body, text } = await service.call('POST', '/v1/auth/token/', { json: { email, password } });
  assert.equal(status, 200, text);
  return { authorization: `Bearer ${body.access_token}` };
}

/** Returns a copy of `response` with only those fields that `ofRelease` also has. A list keeps all its entries. */
export function knownFields(response: unknown, ofRelease: unknown): unknown {
  if (Array.isArray(response) && Array.isArray(ofRelease)) {
    return response.map((entry, index) => knownFields(entry, ofRelease[index]));
  }
  if (!isObject(response) || !isObject(ofRelease)) {
    return response;
  }
  const known = Object.entries(response).filter(([field]) => field in ofRelease);
  return Object.fromEntries(known.map(([field, value]) => [field, knownFields(value, ofRelease[field])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
