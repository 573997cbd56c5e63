import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Bounds } from '../lib/bounds.ts';
import { type Account, STRANGERS } from '../lib/account.ts';
import type { BodyBudget, HeldSpace } from './body-budget.ts';
import { createBodyCheck } from './check-body.ts';
import { clientNetwork } from './client-address.ts';
import { readBody, LARGE_BODY_BYTES } from './read-body.ts';
import { ReadingTurns } from './reading-turns.ts';

declare module 'fastify' {
  interface FastifyInstance {
    bodyBudget: BodyBudget;
    readingTurns: ReadingTurns;
  }
  interface FastifyRequest {
    /** Part of the body budget that this body takes until the response has ended. Null before the body is read. */
    bodySpace: HeldSpace | null;
  }
}

interface BodyOptions {
  bounds: Bounds;
  budget: BodyBudget;
}

/**
 * Makes all routes of the app accept the three content types of contract §1, and validates the bodies. A fault (400, 413, 415, 429)
 * is thrown just before the handler, so that the checks that come before the body (decision 1) respond first. The size limit is
 * the `bodyLimit` of the route or the app. A route whose schema has no body ignores any body (decision 38).
 *
 * Fastify only reads the bytes. Its own parsers, and errors thrown inside a parser, would refuse a request for an unknown path
 * with 400 or 415 and close the connection.
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
    // A Content-Type that is not a media type counts as missing. Otherwise Fastify would refuse it before the parser, even if the
    // request has no body.
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
 * Reads and drops a large body whose request was refused before the body was read, so that the connection stays usable. Large bodies
 * are read in turns, but Node itself would read the body as fast as the client sends it.
 */
export function drainBody(request: FastifyRequest): void {
  const { raw, headers, account, server } = request;
  const isLarge = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LARGE_BODY_BYTES;
  if (isLarge && !raw.complete && raw.readableFlowing === null) {
    raw.on('data', () => server.readingTurns.wait(account.tenant, raw));
  }
}

/**
 * Returns the account of a request. If the caller is neither authenticated nor a channel, the network of its address identifies it.
 * The network is determined only here, because that takes time and few unauthenticated requests have bodies.
 */
function accountOf(request: FastifyRequest): Account {
  const { account } = request;
  return account.tenant === STRANGERS && account.caller === ''
    ? { ...account, caller: clientNetwork(request.ip) }
    : account;
}

/** Reads the body of a request and counts it against the budget of its account. Returns the bytes, or the error that refuses them. */
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
