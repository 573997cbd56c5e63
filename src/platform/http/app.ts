import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify';
import type { Logger } from 'pino';
import { ApiError, invalidField } from '../errors.ts';
import { MAX_BODY_BYTES } from '../lib/bounds.ts';
import { trackAllowedMethods } from './allowed-methods.ts';
import { sendError, toApiError } from './answers.ts';
import { addClientAddress, HOST } from './client-address.ts';
import { createClientErrorHandler } from './client-errors.ts';
import { compileOnDemand } from './compilers.ts';
import { registerBodyParsers } from './body-parsers.ts';
import { decodeQuery } from './decode/form.ts';
import { convertText } from './decode/convert.ts';
import { QuietLogController } from './log.ts';
import { addDoor } from './door.ts';
import { createTogether } from './together.ts';
import { addEventStreams, type StreamBounds } from './event-streams.ts';
import { drainBody, hasUnreadBody } from './read-body.ts';
import { requestIdOf } from './request-id.ts';
import { hasBrokenPath, originForm, routableTarget, splitTarget } from './request-target.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface HttpOptions {
  logger: Logger;
  trustedProxies: string[];
  /** Base URL of the links in responses. If missing or null, a link has the protocol and host of the request. */
  publicUrl?: string | null;
  /** Called once for each request, after its response is sent or its connection is lost. */
  onAnswered?: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Called once for each request that gets a 4xx response, before the response is sent. */
  onRefused?: (request: FastifyRequest, refusal: ApiError) => void;
  /** Called once for each request that gets a 5xx response, before the response is sent. */
  onFailed?: (error: Error) => void;
  /** Overrides some of the default timeouts. Used by tests. */
  timeouts?: Partial<typeof TIMEOUTS>;
  /** Overrides some of the default bounds on streams of events. Used by tests. */
  streams?: Partial<StreamBounds> | undefined;
}

/**
 * Largest number of characters of a path parameter. No request reaches this number, because Node responds with 431 if the request line and
 * the headers together have more than 16 KiB.
 */
const MAX_PARAM_LENGTH = 16 * 1024;
const TIMEOUTS = {
  headersMs: 15_000,
  requestMs: 30_000,
  /**
   * Time in milliseconds for which an idle connection stays open. It is longer than in common proxies (60 s), so that the proxy closes the
   * connection first. Otherwise the proxy might send a request on a connection that the service is closing.
   */
  keepAliveMs: 72_000,
  /** Interval in milliseconds at which Node checks if a connection exceeds `headersMs` or `requestMs`. */
  checkEveryMs: 2_000,
  /**
   * Time in milliseconds after which a connection without any traffic is closed, also if a request is under way. So a client that reads no
   * byte of its response for this time is disconnected.
   */
  stuckMs: 60_000,
};

/** Creates the HTTP app that all APIs share, with decoding, limits, errors and request ids (decisions 1–8). It has no routes yet. */
export function createHttpApp(options: HttpOptions): App {
  const loggerInstance: FastifyBaseLogger = options.logger;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const app = Fastify({
    loggerInstance,
    logController: new QuietLogController(),
    genReqId: requestIdOf,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionTimeout: timeouts.stuckMs,
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
      requireHostHeader: false,
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
      // Turns off Fastify's parser of the query. The preValidation hook below decodes the query, because that must happen only after
      // authentication and the rate limit.
      querystringParser: () => ({}),
    },
    rewriteUrl: (request) => routableTarget(originForm(request.url ?? '/')),
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
  });
  const answerClientError = createClientErrorHandler(app.server);
  const allowedMethods = trackAllowedMethods(app);
  const beginTogether = createTogether();
  app.decorate('publicUrl', options.publicUrl ?? null);
  addEventStreams(app, options.streams);
  addClientAddress(app, options.trustedProxies.length > 0);
  compileOnDemand(app);
  handleErrors(app, options);
  // This hook is not async, because an async hook would delay each request a little (its promise takes one more pass of the microtask
  // queue).
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    reply.raw.on('close', () => options.onAnswered?.(request, reply));
    refuseBadHead(request);
    if (request.is404) {
      throw noRoute(allowedMethods(request.url));
    }
    if (request.routeOptions.config.place === 'none') {
      done();
    } else {
      beginTogether(done);
    }
  });
  addDoor(app);
  app.addHook('preValidation', (request, _reply, done) => {
    if (hasBrokenPath(originForm(request.originalUrl))) {
      throw invalidField('path', 'is not valid percent-encoded UTF-8');
    }
    const [, query] = splitTarget(request.url);
    request.query =
      query === '' ? {} : convertText(decodeQuery(query.slice(1)), request.routeOptions.schema?.querystring);
    refuseUnstorableText(request.params as Record<string, string>);
    done();
  });
  registerBodyParsers(app);
  handleOddRequests(app);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/**
 * Refuses a request with an invalid Host or Expect header. Node's parser accepts such headers.
 * @throws ApiError 400 or 417
 */
function refuseBadHead({ raw }: FastifyRequest): void {
  const { host } = raw.headers;
  const isMissing = host === undefined && raw.httpVersion === '1.1';
  if (isMissing || !HOST.test(host ?? '') || countHosts(raw.rawHeaders) > 1) {
    throw new ApiError(400, 'error', 'The request must have exactly one valid Host header.');
  }
  if (raw.headers.expect !== undefined && raw.headers.expect.toLowerCase() !== '100-continue') {
    throw new ApiError(417, 'error', 'The Expect header may only have the value 100-continue.', {
      connection: 'close',
    });
  }
}

/**
 * Returns the number of Host headers. Searches the raw headers, because Node's `headers` keeps only the first Host header.
 * `headersDistinct` has all of them, but is slower, because it builds a list for every header name.
 */
function countHosts(rawHeaders: string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    count += name?.length === 4 && name.toLowerCase() === 'host' ? 1 : 0;
  }
  return count;
}

/**
 * Returns a 404 error for an unknown path, or a 405 error for a known path that does not allow the method of the request.
 * @param allowed methods that the path allows; empty if the path is unknown
 */
function noRoute(allowed: string[]): ApiError {
  return allowed.length === 0
    ? new ApiError(404, 'error', 'This path does not exist. /docs/ lists the paths that exist.')
    : new ApiError(405, 'error', `The method must be ${allowed.join(' or ')}.`, { allow: allowed.join(', ') });
}

/**
 * Refuses path parameters with U+0000, which PostgreSQL cannot store, or with a lone surrogate, which is not text (decision 2).
 * @throws ApiError 400
 */
function refuseUnstorableText(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0') || !value.isWellFormed()) {
      throw invalidField(name, 'must not contain U+0000 or a lone surrogate');
    }
  }
}

function handleErrors(app: FastifyInstance, { onRefused, onFailed }: HttpOptions): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (hasUnreadBody(request)) {
      await drainBody(request, reply);
    }
    const refusal = toApiError(error);
    if (refusal === null) {
      onFailed?.(error);
    } else {
      onRefused?.(request, refusal);
    }
    return sendError(refusal ?? error, request, reply);
  });
}

/**
 * Lets the app respond to two kinds of unusual requests:
 * - The client has ended its half of the connection after the request. Without this function, Node would close the connection.
 * - The request has an unknown `Expect` header. Without this function, Node would send an empty response.
 */
function handleOddRequests(app: FastifyInstance): void {
  // A client may end its half of the connection after the last byte of its request. With this option, the other half stays open, and the
  // client receives the response. `assign` is used because Node's types do not have the option.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}
