import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PERMISSION_DENIED, permissionDenied } from '../errors.ts';
import { readBody, TOO_LARGE, tooLarge } from '../http/decode/read-body.ts';
import type { GuardFacts } from '../http/guard.ts';
import type { ChannelCall, Channels } from './channels.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The OTA behind the call; set by the guard of the receiver. */
    channelCall: ChannelCall;
  }
}

/**
 * Lets the calls of channels in: 413, 401, 403. It is the bytes of the body that are signed, so they are read first, and handed
 * on to be decoded like those of any other call (decision 30). Runs as `preParsing`.
 */
export function channelGuard(channels: Channels, headerBrand: string) {
  const brand = headerBrand.toLowerCase();
  const guard = async (request: FastifyRequest, _reply: FastifyReply, payload: Readable): Promise<Readable> => {
    const { headers, routeOptions } = request;
    const body = await readBody(payload, routeOptions.bodyLimit);
    if (body === TOO_LARGE) {
      throw tooLarge(routeOptions.bodyLimit);
    }
    const shown = {
      channelKey: headers['x-channel-key'],
      timestamp: headers[`x-${brand}-timestamp`],
      signature: headers[`x-${brand}-signature`],
    };
    request.channelCall = await channels.authenticate(shown, body);
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
