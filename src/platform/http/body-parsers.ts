import type { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkBody } from './check-body.ts';
import { readBody } from './read-body.ts';

/** Time in milliseconds in which a body must arrive, from the moment at which its request has its place. */
const BODY_MS = 5_000;
const DOCUMENT_MS = 60_000;

/**
 * Makes all routes of the app accept the three content types of contract §1, and validates the bodies. These rules apply:
 * - An invalid body is refused (400, 408, 413 or 415) only just before the handler runs, because the other checks must respond first
 *   (decision 1).
 * - The size limit is the `bodyLimit` of the route or the app.
 * - A route whose schema has no body ignores any body (decision 38).
 *
 * One parser reads each body as bytes, and a hook (`preHandler`) decodes and validates these bytes. Fastify's own parsers are not used,
 * because they refuse an invalid body too early. For example, an unknown path with an invalid body would get 400 instead of 404. Fastify
 * would also close the connection after an invalid body, so the client would have to connect again.
 */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readRequestBody(request, payload),
  );
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    // A malformed Content-Type is removed, so it counts as missing. Otherwise Fastify would refuse the request before it calls the parser
    // above, even if the request has no body.
    if (request.mediaType === undefined) {
      delete request.headers['content-type'];
    }
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.is404) {
      done();
      return;
    }
    if (request.body instanceof Error) {
      throw request.body;
    }
    request.body = checkBody(request);
    done();
  });
}

/** Reads the body of a request. Returns the bytes, or the error with which the request must be refused. */
export function readRequestBody({ routeOptions }: FastifyRequest, payload: Readable): Promise<Buffer | Error> {
  const withinMs = routeOptions.config.place === 'document' ? DOCUMENT_MS : BODY_MS;
  return readBody({ payload, limitBytes: routeOptions.bodyLimit, withinMs });
}
