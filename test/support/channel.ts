import assert from 'node:assert/strict';
import { signBody } from '#webhooks/deliveries/signature.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';

export const CHANNELS = '/v1/channel-manager/channels/';
export const RECEIVER = '/v1/channel-manager/receiver/reservations/';

export interface TestChannel {
  id: string;
  source: string;
  channel_key: string;
  channel_secret: string;
}

export async function makeChannel(service: TestService, tenant: TestTenant, source = 'an-ota'): Promise<TestChannel> {
  const made = await service.call('POST', CHANNELS, { headers: tenant.owner, json: { source } });
  assert.equal(made.status, 201, made.text);
  return made.body;
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

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

/** @param at timestamp to sign, in Unix seconds */
export async function sendReservation(
  service: TestService,
  channel: TestChannel,
  reservation: Record<string, unknown>,
  at = nowSeconds(),
): Promise<Answer> {
  const body = JSON.stringify(reservation);
  return await service.call('POST', RECEIVER, { headers: channelHeaders(channel, body, { at }), body });
}
