/** Composes the API, and does what follows each answered request. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '#platform/config.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { type Health, healthRoutes } from '#platform/http/health.ts';
import { REQUEST } from '#platform/http/log.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChannelCall } from '#hotel/channels/channels.ts';
import type { LiveChanges } from '#staff/live-changes/live-changes.ts';
import { type AppDependencies, createParts } from './parts.ts';
import { registerRoutes } from './routes.ts';

/** The app does not listen yet. */
export async function createApp(deps: AppDependencies, extend?: (app: App) => Promise<void>): Promise<App> {
  const parts = await createParts(deps);
  const { config, log, metrics, contact, changes, callers, refusals, liveChanges, mailer, testCalls, guests } = parts;
  const app = createHttpApp({
    logger: log,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    timeouts: { keepAliveMs: config.keepAliveSeconds * 1_000 },
    onAnswered(request, reply) {
      logAnswer(request, reply);
      metrics?.answered(request, reply);
      wakeAfterWrite(liveChanges, request, reply);
    },
    onRefused: refusals.onRefused,
    onFailed: (error) => contact.noteFailure(error),
  });
  await extend?.(app);
  app.addHook('onListen', async () => {
    changes.start();
    guests?.start();
  });
  app.addHook('onClose', async () => {
    await Promise.all([liveChanges.close(), guests?.close()]);
    const { partners, pms, sessions } = callers;
    await Promise.all(
      [changes, partners, pms, sessions, refusals, testCalls, mailer].map(async (part) => await part?.close()),
    );
  });
  registerRoutes(app, parts);
  return app;
}

/** Creates the app of a process that only sends deliveries. */
export function createHealthApp({ trustedProxies }: Pick<Config, 'trustedProxies'>, log: Logger, health: Health): App {
  const app = createHttpApp({ logger: log, trustedProxies });
  healthRoutes(app, health);
  return app;
}

/** Clients of this process that watch the tenant get the change before the next regular poll. */
function wakeAfterWrite(liveChanges: LiveChanges, request: FastifyRequest, reply: FastifyReply): void {
  const tenantId = tenantOf(request);
  if (request.method !== 'GET' && reply.statusCode < 400 && tenantId !== undefined) {
    liveChanges.wake(tenantId);
  }
}

/** Fastify's type says that all of them are always present, but each guard sets one of them, and a refused request has none. */
interface Called {
  caller?: Caller;
  staff?: Staff;
  channelCall?: ChannelCall;
}

function tenantOf(request: FastifyRequest): number | undefined {
  const { caller, staff, channelCall } = request as Called;
  return caller?.tenantId ?? staff?.tenant.id ?? channelCall?.tenantId;
}

/** Logs one line for a request, with the ids of the tenant and the caller. The line contains no header, no body and no query. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { caller, staff } = request as Called;
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      // Undefined if the response was sent to its end, so that the log line does not have this field.
      cut_off: reply.raw.writableFinished ? undefined : true,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: tenantOf(request),
      credential_id: caller?.credentialId,
      user_id: staff?.type === 'person' ? staff.id : undefined,
      display_id: staff?.type === 'display' ? staff.id : undefined,
    },
    REQUEST,
  );
}
