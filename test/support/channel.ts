import assert from 'node:assert/strict';
import { signBody } from '#webhooks/deliveries/signature.ts';
import type { Answer, TestService, TestTenant } from './service.ts';

export const CHANNELS = '/v1/channel-manager/channels/';
export const RECEIVER = '/v1/channel-manager/receiver/reservations/';

export interface TestChannel {
  id: string;
  source: string;
  channel_key: string;
  channel_secret: string;
}

/** One more channel of the tenant, made by its owner. */
export async function makeChannel(service: TestService, tenant: TestTenant, source = 'an-ota'): Promise<TestChannel> {
  const made = await service.call('POST', CHANNELS, { headers: tenant.owner, json: { source } });
  assert.equal(made.status, 201, made.text);
  return made.body;
}

/** Unix time, as channels sign it. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** The headers of a call: the key, the moment, and the signature over both and the exact bytes. */
export function channelHeaders(
  channel: Pick<TestChannel, 'channel_key' | 'channel_secret'>,
  body: string | Buffer,
  { at = nowSeconds(), type = 'application/json', brand = 'service' } = {},
): Record<string, string> {
  return {
    'content-type': type,
    'x-channel-key': channel.channel_key,
    [`x-${brand}-timestamp`]: String(at),
    [`x-${brand}-signature`]: signBody(channel.channel_secret, at, body),
  };
}

/**
 * Tells of a reservation as an OTA does.
 * @param at the moment it is signed for, Unix seconds; now where left out
 */
export async function tell(
  service: TestService,
  channel: TestChannel,
  reservation: Record<string, unknown>,
  at = nowSeconds(),
): Promise<Answer> {
  const body = JSON.stringify(reservation);
  return await service.call('POST', RECEIVER, { headers: channelHeaders(channel, body, { at }), body });
}
