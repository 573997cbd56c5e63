import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import { readRequestBody } from '#platform/http/body.ts';
import type { GuardFacts } from '#platform/http/guard.ts';
import { type ChannelCall, type Channels, type UnverifiedCall, verifyCall } from './channels.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Call whose channel is known, but whose signature is not verified yet. `channelKeyGuard` sets this field before the body is read. */
    unverifiedCall: UnverifiedCall;
    /** Call with a verified signature. `channelGuard` sets this field. */
    channelCall: ChannelCall;
  }
}

/**
 * Creates the `onRequest` hook that finds the channel of a call by its key, before the body is read. A call with an unknown or revoked key,
 * or with an invalid timestamp, gets 401. The key is not secret, so the caller is trusted only after the signature is verified.
 */
export function channelKeyGuard(channels: Channels, headerBrand: string) {
  const brand = headerBrand.toLowerCase();
  return async (request: FastifyRequest) => {
    const { headers } = request;
    const given = {
      channelKey: headers['x-channel-key'],
      timestamp: headers[`x-${brand}-timestamp`],
      signature: headers[`x-${brand}-signature`],
    };
    request.unverifiedCall = await request.server.door.lookUp(request, () => channels.findChannel(given));
    request.holder = request.unverifiedCall.call.channelId;
  };
}

/**
 * Creates the `preParsing` hook that verifies the signature of a channel's call. The signature covers the bytes of the body, so the hook
 * reads the body first. Then the usual parsers decode the same bytes (decision 30). The hook refuses a call with one of these statuses:
 * - 413: the body is too large.
 * - 401: the signature is wrong.
 * - 403: the tenant does not have the hotel feature.
 */
export function channelGuard() {
  const guard = async (request: FastifyRequest, _reply: FastifyReply, payload: Readable): Promise<Readable> => {
    const body = await readRequestBody(request, payload);
    if (body instanceof Error) {
      throw body;
    }
    request.channelCall = verifyCall(request.unverifiedCall, body);
    if (!request.channelCall.features.includes('hotel')) {
      throw permissionDenied();
    }
    return Readable.from(body);
  };
  return Object.assign(guard, {
    security: ['channelKey', 'channelTimestamp', 'channelSignature'],
    errors: ['invalid_credentials', PERMISSION_DENIED],
  } satisfies GuardFacts);
}
