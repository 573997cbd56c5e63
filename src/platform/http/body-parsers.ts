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
    /** What the bytes of the body take of the budget, until the answer has ended. */
    bodySpace: HeldSpace | null;
  }
}

interface BodyOptions {
  bounds: Bounds;
  budget: BodyBudget;
}

/**
 * Teaches the app and all its routes the three content types of contract §1, and validates what they hold. A fault is thrown
 * (400, 413, 415, 429) just before the handler, so that whatever is checked before bodies (decision 1) answers first.
 * The limit is the route's or the app's `bodyLimit`. A route whose schema has no body ignores whatever comes (decision 38).
 *
 * Fastify's part is to read bytes. Its own parsers, and faults reported from within a parser, would answer a request
 * for an unknown path with 400 or 415 and close the connection.
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
    // A header that is no media type counts as none: fastify would refuse it before the parser, even without a body.
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
 * Reads what is left of a body that was refused by its head, so that the connection can go on. Node would do so by itself, as fast as
 * the client sends.
 */
export function drainBody(request: FastifyRequest): void {
  const { raw, headers, account, server } = request;
  const isLarge = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LARGE_BODY_BYTES;
  if (isLarge && !raw.complete && raw.readableFlowing === null) {
    raw.on('data', () => server.readingTurns.wait(account.tenant, raw));
  }
}

/** A stranger is known by the network of the address, which is looked up here alone: it costs, and few requests have bodies of strangers. */
function accountOf(request: FastifyRequest): Account {
  const { account } = request;
  return account.tenant === STRANGERS && account.caller === ''
    ? { ...account, caller: clientNetwork(request.ip) }
    : account;
}

/** The bytes of a request's body, counted against the budget of its account, or why they are refused. */
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
