import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import { readRequestBody } from '#platform/http/body-parsers.ts';
import type { GuardFacts } from '#platform/http/guard.ts';
import { type ChannelCall, type Channels, proveCall, type UnprovedCall } from './channels.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The OTA that the call says it is from; set before the body is read. */
    unprovedCall: UnprovedCall;
    /** The OTA behind the call; set by the guard of the receiver. */
    channelCall: ChannelCall;
  }
}

/**
 * Looks the channel of a call up by its key (401), before a byte of the body is read. Runs as `onRequest`. Until the signature is
 * verified, the body is a stranger's: the key is no secret.
 */
export function channelKeyGuard(channels: Channels, headerBrand: string) {
  const brand = headerBrand.toLowerCase();
  return async (request: FastifyRequest) => {
    const { headers } = request;
    request.unprovedCall = await channels.recognise({
      channelKey: headers['x-channel-key'],
      timestamp: headers[`x-${brand}-timestamp`],
      signature: headers[`x-${brand}-signature`],
    });
    request.account.caller = request.unprovedCall.channelId;
  };
}

/**
 * Lets the calls of channels in: 413, 429, 401, 403. It is the bytes of the body that are signed, so they are read first, and
 * handed on to be decoded like those of any other call (decision 30). Runs as `preParsing`.
 */
export function channelGuard() {
  const guard = async (request: FastifyRequest, _reply: FastifyReply, payload: Readable): Promise<Readable> => {
    const body = await readRequestBody(request, payload);
    if (body instanceof Error) {
      throw body;
    }
    request.channelCall = proveCall(request.unprovedCall, body);
    request.account.tenant = String(request.channelCall.tenantId);
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
