import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Bounds } from '../lib/bounds.ts';
import { type Account, STRANGERS } from '../lib/account.ts';
import type { BodyBudget, HeldSpace } from './body-budget.ts';
import { createBodyCheck } from './check-body.ts';
import { clientNetwork } from './client-address.ts';
import { freeChunk, readBody, LARGE_BODY_BYTES } from './read-body.ts';
import { ReadingTurns } from './reading-turns.ts';

declare module 'fastify' {
  interface FastifyInstance {
    bodyBudget: BodyBudget;
    readingTurns: ReadingTurns;
  }
  interface FastifyRequest {
    /**
     * Counter of the bytes of the request's body. They count against the bounds until the response has ended. Null before the body is read.
     */
    bodySpace: HeldSpace | null;
  }
}

interface BodyOptions {
  bounds: Bounds;
  budget: BodyBudget;
}

/**
 * Makes all routes of the app accept the three content types of contract §1, and validates the bodies. These rules apply:
 * - An invalid body is refused (400, 413, 415 or 429) only just before the handler runs, because the other checks must respond first
 *   (decision 1).
 * - The size limit is the `bodyLimit` of the route or the app.
 * - A route whose schema has no body ignores any body (decision 38).
 *
 * One parser reads each body as bytes, and a hook (`preHandler`) decodes and validates these bytes. Fastify's own parsers are not used,
 * because they refuse an invalid body too early. For example, an unknown path with an invalid body would get 400 instead of 404. Fastify
 * would also close the connection after an invalid body, so the client would have to connect again.
 */
export function registerBodyParsers(app: FastifyInstance, { bounds, budget }: BodyOptions): void {
  const checkBody = createBodyCheck(app, bounds);
  app.decorate('bodyBudget', budget);
  app.decorate('readingTurns', new ReadingTurns());
  app.decorateRequest('bodySpace', null);
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
    const checked = checkBody(request);
    if (checked instanceof Promise) {
      checked.then((value) => {
        request.body = value;
        done();
      }, done);
    } else {
      request.body = checked;
      done();
    }
  });
}

/**
 * Reads and drops a large body if the request was refused before its body was read. The client can then use the connection for its next
 * request. `readingTurns` makes pauses between the chunks of the body. Without these pauses, Node would read the body as fast as the client
 * sends it, and delay other requests.
 */
export function drainBody(request: FastifyRequest): void {
  const { raw, headers, account, server } = request;
  const isLarge = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LARGE_BODY_BYTES;
  if (isLarge && !raw.complete && raw.readableFlowing === null) {
    // Reads the bytes that have already arrived. This first read also tells Node that the body has a reader. If a body has no reader when
    // the response ends, Node removes all listeners, and then reads and drops the rest of the body without pauses.
    freeChunk(raw.read() ?? Buffer.alloc(0));
    raw.on('data', (chunk: Buffer) => {
      freeChunk(chunk);
      server.readingTurns.wait(account.tenant, raw);
    });
  }
}

/**
 * Returns the tenant and the caller for which the bytes of a body are counted. For an unauthenticated caller, the network of the client's
 * address takes the place of the caller. The network is computed only for requests with a body, because most requests of unauthenticated
 * callers have no body.
 */
function accountOf(request: FastifyRequest): Account {
  const { account } = request;
  return account.tenant === STRANGERS && account.caller === ''
    ? { ...account, caller: clientNetwork(request.clientAddress) }
    : account;
}

/**
 * Reads the body of a request, and counts its bytes for the caller and the tenant. Returns the bytes, or the error with which the request
 * must be refused.
 */
export function readRequestBody(request: FastifyRequest, payload: Readable): Promise<Buffer | Error> {
  request.bodySpace ??= request.server.bodyBudget.spaceFor(accountOf(request));
  return readBody({
    payload,
    declaredBytes: Number(request.headers['content-length']),
    limitBytes: request.routeOptions.bodyLimit,
    space: request.bodySpace,
    pace: () => request.server.readingTurns.wait(request.account.tenant, payload),
  });
}
