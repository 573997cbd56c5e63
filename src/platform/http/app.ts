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
import { chargeTo, STRANGERS } from '../lib/account.ts';
import { type Bounds, DEFAULT_BOUNDS } from '../lib/bounds.ts';
import { trackAllowedMethods } from './allowed-methods.ts';
import { answerError } from './answers.ts';
import { BodyBudget } from './body-budget.ts';
import { answerClientErrors } from './client-errors.ts';
import { compileOnDemand } from './compilers.ts';
import { drainBody, registerBodyParsers } from './body-parsers.ts';
import { decodeQuery } from './decode/form.ts';
import { convertText } from './decode/convert.ts';
import { QuietLogController } from './log.ts';
import { createRequestLines } from './request-lines.ts';
import { requestIdOf } from './request-id.ts';
import { hasBrokenPath, originForm, routableTarget, splitTarget } from './request-target.ts';
import { type ReaderBounds, SlowReaders } from './slow-readers.ts';

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
  /** The base of links in answers; if left out, what each request came to. */
  publicUrl?: string | null;
  /** What a request may cost; the defaults if left out. */
  bounds?: Bounds;
  /** Counts the bytes of bodies; one with the bounds above if left out. */
  bodyBudget?: BodyBudget;
  /** Called once for every request, when its answer is out or the connection is lost. */
  onAnswered?: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Others than the usual ones, for who cannot wait so long. */
  timeouts?: Partial<typeof TIMEOUTS>;
  /** The same of long lists. */
  readers?: Partial<ReaderBounds> | undefined;
}

/** Decision 6. */
const BODY_LIMIT_BYTES = 1024 * 1024;
/** No parameter is longer: Node ends a request whose line and headers exceed 16 KiB (431). */
const MAX_PARAM_LENGTH = 16 * 1024;
const TIMEOUTS = {
  headersMs: 15_000,
  requestMs: 30_000,
  /** Longer than the idle timeout of common proxies (60 s), so that it is they who close. */
  keepAliveMs: 72_000,
  /** How often the first two are looked at. */
  checkEveryMs: 2_000,
  /** Nothing came and nothing went: whoever reads an answer this slowly has gone. */
  stuckMs: 60_000,
};

/** The HTTP shell every API hangs in: decoding, limits, errors, request ids (decisions 1–8). It has no route of its own. */
export function createHttpApp(options: HttpOptions): App {
  const loggerInstance: FastifyBaseLogger = options.logger;
  const bounds = options.bounds ?? DEFAULT_BOUNDS;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const app = Fastify({
    loggerInstance,
    logController: new QuietLogController(),
    genReqId: requestIdOf,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
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
      // Decoded strictly, after authentication and the rate limit, by the hook below.
      querystringParser: () => ({}),
    },
    rewriteUrl: (request) => routableTarget(originForm(request.url ?? '/')),
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
  });
  const answerClientError = answerClientErrors(app.server);
  const allowedMethods = trackAllowedMethods(app);
  app.decorate('publicUrl', options.publicUrl ?? null);
  app.decorate('slowReaders', new SlowReaders({ maxWaiting: bounds.waitingStreams, ...options.readers }));
  compileOnDemand(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    drainBody(request);
    return answerError(error, request, reply);
  });
  const standInLine = createRequestLines(app.server);
  app.decorateRequest('account');
  // Hooks that wait for nothing are not async: each promise is a turn of the microtask queue at every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    request.account = { tenant: STRANGERS, caller: '' };
    reply.raw.on('close', () => {
      request.bodySpace?.release();
      options.onAnswered?.(request, reply);
    });
    refuseBadHead(request);
    if (request.is404) {
      throw noRoute(allowedMethods(request.url));
    }
    standInLine(request, reply, () => chargeTo(request.account, done));
  });
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
  const budget = options.bodyBudget ?? new BodyBudget(bounds.bodyBytes);
  registerBodyParsers(app, { bounds, budget });
  handleOddRequests(app);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** A host name or address, and a port: links in answers are made of it. An empty one is allowed (RFC 9112 §3.2). */
const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Faults of a request's head that Node's parser lets pass. */
function refuseBadHead({ raw }: FastifyRequest): void {
  const { host } = raw.headers;
  const isMissing = host === undefined && raw.httpVersion === '1.1';
  if (isMissing || !HOST.test(host ?? '') || countHosts(raw.rawHeaders) > 1) {
    throw new ApiError(400, 'error', 'One valid Host header is required.');
  }
  if (raw.headers.expect !== undefined && raw.headers.expect.toLowerCase() !== '100-continue') {
    throw new ApiError(417, 'error', 'The Expect header may only be 100-continue.', { connection: 'close' });
  }
}

/** Node keeps the first of several in `headers`, and would make lists of all headers to tell how many there were. */
function countHosts(rawHeaders: string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    count += name?.length === 4 && name.toLowerCase() === 'host' ? 1 : 0;
  }
  return count;
}

/** @param allowed the methods that the path has */
function noRoute(allowed: string[]): ApiError {
  return allowed.length === 0
    ? new ApiError(404, 'error', 'No such path. /docs/ tells which there are.')
    : new ApiError(405, 'error', `The method must be ${allowed.join(' or ')}.`, { allow: allowed.join(', ') });
}

/** PostgreSQL stores no U+0000, and a lone surrogate is no text (decision 2). */
function refuseUnstorableText(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0') || !value.isWellFormed()) {
      throw invalidField(name, 'holds a character that is not allowed');
    }
  }
}

/** What Node's server would answer by itself, with an empty body or by hanging up. */
function handleOddRequests(app: FastifyInstance): void {
  // Node's own switch, missing from its types: a client that has sent its last byte may end its half and wait for the answer.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}
