import type { FastifyRequest } from 'fastify';
import type { EncodedBody } from './decode/decode-body.ts';

/** Returns the body of a request as it arrived. Called before the body is decoded, or by a route with `takesEncodedBody`. */
export function encodedBodyOf({ body, headers }: FastifyRequest): EncodedBody {
  return {
    bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  };
}
