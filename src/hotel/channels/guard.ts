import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import { readRequestBody } from '#platform/http/body.ts';
import type { GuardFacts } from '#platform/http/guard.ts';
import { type ChannelCall, type Channels, type UnverifiedCall, verifyCall } from './channels.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `channelKeyGuard` before the body is read. Its signature is not verified yet. */
    unverifiedCall: UnverifiedCall;
    channelCall: ChannelCall;
  }
}

export function channelKeyGuard(channels: Channels, headerBrand: string) {
  const brand = headerBrand.toLowerCase();
  return async (request: FastifyRequest) => {
    const header = (name: string) => request.headers[name]?.toString() ?? '';
    const given = {
      channelKey: header('x-channel-key'),
      timestamp: header(`x-${brand}-timestamp`),
      signature: header(`x-${brand}-signature`),
    };
    request.unverifiedCall = await request.server.door.lookUp(request, () => channels.findChannel(given));
    request.holder = request.unverifiedCall.call.channelId;
  };
}

/**
 * Creates the `preParsing` hook that verifies the signature of a call over the bytes of its body. Then the usual parsers decode the same
 * bytes (rule 30). Refuses a call with 413, 401, or with 403 if the tenant does not have the hotel feature.
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
