import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { Logger } from 'pino';
import { ApiError, invalidField } from '../errors.ts';
import { trackAllowedMethods } from './allowed-methods.ts';
import { answerError } from './answers.ts';
import { answerClientError, rawAnswer } from './client-errors.ts';
import { registerBodyParsers } from './decode/body-parsers.ts';
import { decodeQuery } from './decode/form.ts';
import { convertText } from './decode/convert.ts';
import { compileSchema } from '../lib/validation.ts';
import { requestIdOf } from './request-id.ts';

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
  /** Called once for every answered request. */
  onAnswered?: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Decision 6. */
const BODY_LIMIT_BYTES = 1024 * 1024;
/** An external id of 150 four-byte characters, percent-encoded, is 1,800 bytes long; the schema checks the length. */
const MAX_PARAM_LENGTH = 4096;
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of common proxies (60 s), so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** The HTTP shell every API hangs in: decoding, limits, errors, request ids (decisions 1–8). It has no route of its own. */
export function createHttpApp(options: HttpOptions): App {
  const loggerInstance: FastifyBaseLogger = options.logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestIdOf,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, requireHostHeader: false, connectionsCheckingInterval: 2_000 },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
      // Decoded strictly, after authentication and the rate limit, by the hook below.
      querystringParser: () => ({}),
    },
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
      void answerError(error, request, reply);
    },
  });

  const allowedMethods = trackAllowedMethods(app);
  registerBodyParsers(app);
  app.setValidatorCompiler(({ schema }) => compileSchema(schema as object));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request) => {
    const allowed = allowedMethods(request.url);
    throw allowed.length === 0
      ? new ApiError(404, 'error', 'No such path.')
      : new ApiError(405, 'error', `The method must be ${allowed.join(' or ')}.`, { allow: allowed.join(', ') });
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new ApiError(400, 'error', 'The Host header is required (RFC 9112 §3.2).');
    }
  });
  app.addHook('preValidation', async (request) => {
    if (request.is404) {
      return;
    }
    const query = decodeQuery(request.raw.url?.split('?').slice(1).join('?') ?? '');
    request.query = convertText(query, request.routeOptions.schema?.querystring);
    refuseUnstorableText(request.params as Record<string, string>);
  });
  app.addHook('onResponse', async (request, reply) => options.onAnswered?.(request, reply));
  handleOddRequests(app);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** RFC 9112 §3.2.2: a server takes the absolute form of a request target as well. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
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
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
    const body = JSON.stringify({ code: 'error', message: 'The Expect header may only be 100-continue.' });
    response.writeHead(417, { 'content-type': 'application/json; charset=utf-8' }).end(body);
  });
  app.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    socket.end(rawAnswer(405, 'CONNECT is not supported.', { Allow: 'GET, POST, PUT, PATCH' }));
  });
}
