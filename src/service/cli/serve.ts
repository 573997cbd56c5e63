import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '#platform/config.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import { countWaiting } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import { type Listening, listen } from '#platform/http/listen.ts';
import { createLogger } from '#platform/http/log.ts';
import { type BudgetStore, createMemoryBudgets } from '#platform/http/rate-limit.ts';
import { createWakeUpSender } from '#webhooks/deliveries/wake-ups.ts';
import { type Context, openRuntime, type Runtime } from './runtime.ts';

export interface ServeOptions {
  demo?: boolean;
  /** Speed of the demo tenant's simulated kitchen and front desk, as a multiple of real time. Default: 1. */
  demoSpeed?: number;
  only?: 'api' | 'worker';
}

/** Maximum time that a stop waits for deliveries under way. A delivery attempt takes at most 10 s, so all attempts can end in this time. */
const DELIVERY_GRACE_MS = 11_000;
/** Time for which a stopping process serves calls until its port closes, if STOP_GRACE is not set. In a terminal it is 0. */
const STOP_GRACE_SECONDS = 5;
/** Time limit of the whole stop, below the 15 s that docs/guarantees/operations.md guarantees. A longer STOP_GRACE makes it longer. */
const STOP_LIMIT_MS = 14_500;
/** Number of database connections that only background work uses, so that it continues when requests use all other connections. */
const BACKGROUND_CONNECTIONS = { all: 2, api: 1, worker: 0 };

/** Runs `roomservice serve` until SIGTERM or SIGINT, or until its terminal closes (SIGHUP). */
export async function serve(context: Context, options: ServeOptions): Promise<void> {
  const { config, terminal } = context;
  const isWorker = options.only === 'worker';
  const stopping = terminal.untilStopped();
  const log = createLogger(config.logLevel, await terminal.host.openLog());
  const opening = openRuntime(context, {
    role: 'serve',
    mayCreate: true,
    log,
    backgroundConnections: BACKGROUND_CONNECTIONS[options.only ?? 'all'],
  });
  const [runtime, code] = await Promise.all([opening, loadCode(options)]);
  const service = await startService(config, runtime, log, options, code).catch(async (error: unknown) => {
    await runtime.close();
    throw error;
  });
  try {
    const { address } = service.listening;
    const demo = config.databaseUrl === null ? await code.demo?.introduceDemo(runtime, address) : null;
    const hasConsole = terminal.host.columns !== undefined && !isWorker;
    const welcome = hasConsole ? await code.demo?.welcomeDemoOwner(runtime, config.publicUrl ?? address) : null;
    if (welcome) {
      terminal.print(welcome);
    }
    introduce(context, log, service.listening, isWorker);
    if (demo) {
      terminal.print(demo);
    }
    terminal.host.settle();
    log.info({ signal: await stopping }, 'stopping');
  } finally {
    const byDefault = terminal.host.isInteractive ? 0 : STOP_GRACE_SECONDS;
    const graceSeconds = isWorker ? 0 : (config.stopGrace ?? byDefault); // A worker gets no calls.
    const longerMs = Math.max(0, graceSeconds - STOP_GRACE_SECONDS) * 1_000;
    setTimeout(() => terminal.host.exit(1), STOP_LIMIT_MS + longerMs).unref();
    await service.stop(graceSeconds * 1_000);
    await runtime.close();
  }
  log.info('stopped');
}

async function loadCode({ only, demo }: ServeOptions) {
  return {
    app: await import('../app.ts'),
    startWorker: only === 'api' ? null : (await import('../worker.ts')).startWorker,
    demo: demo ? await import('./demo.ts') : null,
  };
}

async function startService(
  config: Config,
  runtime: Runtime,
  log: Logger,
  { only, demoSpeed: speed = 1 }: ServeOptions,
  { app: { createApp, createHealthApp }, startWorker, demo }: Awaited<ReturnType<typeof loadCode>>,
) {
  const { db, backgroundDb, databaseUrl, keyring } = runtime;
  await rewrapKeys(runtime, log);
  let isServing = true;
  const contact = new DatabaseContact(db);
  const health = { isServing: () => isServing, isReady: contact.isReady.bind(contact) };
  const metrics = config.metricsPort === null ? null : (await import('./metrics.ts')).createMetrics(log, health);
  const worker = startWorker?.({
    config,
    db: backgroundDb,
    databaseUrl,
    keyring,
    log,
    contact,
    sandbox: demo ? { findTenant: () => demo.findDemoTenant(backgroundDb), speed } : undefined,
    metrics: metrics?.ofDeliveries(),
  });
  // A worker gets no calls, so its part of each budget would be wasted.
  const budgets = await openBudgets(only === 'worker' ? null : config.redisUrl, log);
  const stopping = new AbortController();
  const app =
    only === 'worker'
      ? createHealthApp(config, log, health)
      : await createApp({
          config,
          db,
          backgroundDb,
          keyring,
          budgets,
          log,
          wake: worker?.wake ?? createWakeUpSender(backgroundDb),
          metrics: metrics?.ofHttp(),
          contact,
          isServing: health.isServing,
          stopping: stopping.signal,
          findDemo: demo ? () => demo.findDemoTenant(db) : undefined,
        });
  metrics?.watch('http_waiting_requests', 'Requests that wait until their tenant has a place', () => app.door.waiting);
  metrics?.watch('database_waiting_callers', 'Callers that wait for a database connection', () => countWaiting(db));
  metrics?.watch('live_streams', 'Open streams of live changes', () => app.liveChanges?.size ?? 0);
  const close = closingOf(app);
  let listening: Listening | null = null;
  const stop = async (graceMs: number) => {
    isServing = false;
    const deliveries = worker?.stop(DELIVERY_GRACE_MS);
    // Load balancers check `/readyz`, and send no more calls to this process before the port closes.
    await sleep(graceMs);
    stopping.abort();
    await Promise.all([close(listening, graceMs), metrics?.app.close(), deliveries]);
    await budgets.close();
  };
  try {
    listening = await openPorts(config, app, metrics?.app);
    return { listening, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

async function rewrapKeys(runtime: Runtime, log: Logger): Promise<void> {
  if (await runtime.rewrapKeys()) {
    log.info(
      'only MASTER_KEY unwraps the keys now; restart every process that has only the old master key, then remove MASTER_KEY_PREVIOUS',
    );
  }
}

/** The libraries for Redis take long to load. */
async function openBudgets(redisUrl: string | null, log: Logger): Promise<BudgetStore> {
  return redisUrl === null
    ? createMemoryBudgets()
    : await (await import('#platform/http/redis-budgets.ts')).RedisBudgets.open(redisUrl, log);
}

async function openPorts(config: Config, app: App, metrics: App | undefined): Promise<Listening> {
  await app.ready();
  if (metrics !== undefined) {
    await listenOn(metrics, 'METRICS_PORT', config.host, config.metricsPort ?? 0);
  }
  return await listenOn(app, 'PORT', config.host, config.port);
}

async function listenOn(app: App, variable: string, host: string, port: number): Promise<Listening> {
  return await listen(app, { host, port }).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `another process listens there. Set another ${variable}`,
      EACCES: `the process has no permission for this port. Set ${variable} to 1024 or higher`,
      EADDRNOTAVAIL: 'this machine has no such address. Set another HOST',
      ENOTFOUND: 'there is no host of that name. Set another HOST',
      EAI_AGAIN: 'the name cannot be looked up. Set another HOST',
    };
    const reason = reasons[error.code ?? ''];
    throw reason === undefined
      ? error
      : new OperatorError(`The service cannot listen on ${variable} ${port} of ${host} (${error.code}): ${reason}.`);
  });
}

/**
 * The log line appears at every LOG_LEVEL, because the program that started the process may wait for it. By then the demo tenant is there:
 * who runs `demo` at once must not create it a second time.
 */
function introduce({ config, terminal }: Context, log: Logger, { address, isLocal }: Listening, isWorker: boolean) {
  const where = `Roomservice listens on ${address}${isWorker ? '' : ` (documentation: ${address}/docs/)`}`;
  if (terminal.host.columns !== undefined) {
    terminal.print(where);
  } else {
    log.child({}, { level: 'info' }).info({ address }, where);
  }
  if (config.databaseUrl === null && !isLocal) {
    log.warn(
      'other machines can reach this service, and it uses the embedded PostgreSQL; docs/operating/embedded-database.md says when the embedded PostgreSQL is enough, and how to move to a PostgreSQL of your own',
    );
  }
}

const ANSWER_GRACE_MS = 8_000;
/** Time in milliseconds for which a request may be on its way on an open connection when the port closes. At most the grace. */
const MAX_IDLE_MS = 1_000;
const POLL_MS = 100;

/** Returns how to close an app in such an order that clients see no error. Called before the app listens, to miss no connection. */
function closingOf(app: App) {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = () => {
    app.server.closeIdleConnections();
    // Node does not count a connection as idle on which the client has sent nothing.
    sockets.forEach((socket) => socket.bytesRead === 0 && socket.destroy());
  };
  /**
   * Connections stay open during the grace: each new one could meet the port as it closes, and be reset. After it, each response closes its
   * connection. Responses under way may continue for 8 s, and not longer, because a client that does not read must not delay the stop.
   */
  return async (listening: Listening | null, graceMs: number) => {
    await listening?.stop();
    app.server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    app.liveChanges?.stop();
    const all = setTimeout(() => app.server.closeAllConnections(), ANSWER_GRACE_MS);
    await sleep(Math.min(graceMs, MAX_IDLE_MS));
    // A timer that is late runs before the requests that came meanwhile are read. What it sets for the same turn runs after them.
    const idle = setInterval(() => setImmediate(closeIdle), POLL_MS);
    // `app.close()` would wait only for the connections of the first listening socket (src/platform/http/listen.ts).
    await Promise.all(Array.from(sockets, (socket) => new Promise((resolve) => socket.once('close', resolve))));
    await app.close();
    clearInterval(idle);
    clearTimeout(all);
  };
}
