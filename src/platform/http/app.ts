/** The HTTP layer that all APIs share: decoding, order of checks, limits, errors, request ids. */
import type { IncomingMessage, ServerResponse } from 'node:http';
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
import { invalidField } from '../errors.ts';
import { MAX_BODY_BYTES } from '../lib/bounds.ts';
import { trackRoutes } from './allowed-methods.ts';
import { type ErrorListeners, handleErrors } from './answers.ts';
import { addClientAddress } from './client-address.ts';
import { compileOnDemand } from './compilers.ts';
import { registerBodyParsers } from './body.ts';
import { decodeQuery } from './decode/form.ts';
import { convertText } from './decode/convert.ts';
import { refuseBadText } from './decode/text.ts';
import { addDoor, createTogether } from './door.ts';
import {
  createClientErrorHandler,
  handleOddRequests,
  hasBrokenPath,
  originForm,
  refuseBadHead,
  requestIdOf,
  routableTarget,
  splitTarget,
} from './raw-requests.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

interface HttpOptions extends ErrorListeners {
  logger: Logger;
  trustedProxies: string[];
  /** Base URL of the links in responses. If missing or null, a link has the protocol and host of the request. */
  publicUrl?: string | null;
  onAnswered?: (request: FastifyRequest, reply: FastifyReply) => void;
  timeouts?: Partial<typeof TIMEOUTS>;
}

/** No request reaches this number, because Node responds with 431 if the request line and the headers have more than 16 KiB. */
const MAX_PARAM_LENGTH = 16 * 1024;
const TIMEOUTS = {
  headersMs: 15_000,
  /** The headers, 10 s at the door, and the 60 s that the body of a document may take. A shorter limit would end such a body early. */
  requestMs: 85_000,
  /** Longer than in common proxies (60 s), so that the proxy closes an idle connection first, and sends no request on a closing one. */
  keepAliveMs: 72_000,
  checkEveryMs: 2_000,
  /** Closes a connection without any traffic, also if a request is under way. */
  stuckMs: 60_000,
};

/** Creates the HTTP app that all APIs share, with decoding, limits, errors and request ids (rules 1–8). It has no routes yet. */
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
      // The preValidation hook below decodes the query, because that must happen after authentication and the rate limit.
      querystringParser: () => ({}),
    },
    rewriteUrl: (request) => routableTarget(originForm(request.url ?? '/')),
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
  });
  const answerClientError = createClientErrorHandler(app.server);
  const noRoute = trackRoutes(app);
  const beginTogether = createTogether();
  app.decorate('publicUrl', options.publicUrl ?? null);
  addClientAddress(app, options.trustedProxies.length > 0);
  compileOnDemand(app);
  handleErrors(app, options);
  // This hook is not async, because its promise would take one more pass of the microtask queue.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    reply.raw.on('close', () => options.onAnswered?.(request, reply));
    refuseBadHead(request);
    if (request.is404) {
      throw noRoute(request.url);
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
    for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
      refuseBadText(value, name);
    }
    refuseTenantParameters(request);
    refuseUnknownParameters(request);
    done();
  });
  registerBodyParsers(app);
  handleOddRequests(app);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** Refuses query parameters that name a tenant, because only the credential determines the tenant (contract §1, rule 4). */
function refuseTenantParameters(request: FastifyRequest): void {
  if (request.routeOptions.url?.startsWith('/v1/third-party/')) {
    const query = request.query as Record<string, unknown>;
    const refused = ['tenant_id', 'restaurant_id', 'hotel_id'].find((name) => name in query);
    if (refused !== undefined) {
      throw invalidField(refused, 'is not accepted, because the credential determines the tenant. Leave it out');
    }
  }
}

/** A misspelled filter would otherwise show everything, and a misspelled `dry_run` would change the menu. */
function refuseUnknownParameters({ routeOptions, query }: FastifyRequest): void {
  const schema = routeOptions.schema?.querystring as { properties: object } | undefined;
  if (schema !== undefined && routeOptions.url?.startsWith('/v1/staff/')) {
    const unknown = Object.keys(query as object).find((name) => !Object.hasOwn(schema.properties, name));
    if (unknown !== undefined) {
      const known = Object.keys(schema.properties).join(', ');
      const fault = `is not a parameter of this call, which knows ${known}. Correct the name, or leave it out`;
      throw invalidField(unknown, fault);
    }
  }
}

/** Keeps only Fastify's line about a response that failed while it was streamed, for which the error handler is not called. */
class QuietLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  }

  /** If the client has closed the connection, the log line of the request reports it already. */
  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      request.log.error({ err: error }, 'response cut off, because an error occurred after the response had begun');
    }
  }
}
