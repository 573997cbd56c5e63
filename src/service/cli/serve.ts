import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp } from '../app.ts';
import type { Config } from '#platform/config.ts';
import { DatabaseContact } from '#platform/db/contact.ts';
import { countWaiting, type Database } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { type Health, healthRoutes } from '#platform/http/health.ts';
import { HOST_REMEDIES, type Listening, listen } from '#platform/http/listen.ts';
import { createLogger } from '#platform/http/log.ts';
import type { PresentCounts } from '#platform/http/metrics.ts';
import { type BudgetStore, createMemoryBudgets } from '#platform/http/rate-limit.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { createWakeUpSender } from '#webhooks/deliveries/wake-ups.ts';
import { startWorker } from '../worker.ts';
import type { Metrics } from './metrics.ts';
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
/** Time limit of the whole stop, below the 15 s that docs/contract/operations.md guarantees. A longer STOP_GRACE makes it longer. */
const STOP_LIMIT_MS = 14_500;
/** Number of database connections that only background work uses, so that it continues when requests use all other connections. */
const BACKGROUND_CONNECTIONS = { all: 2, api: 1, worker: 0 };

/** Runs `roomservice serve` until SIGTERM or SIGINT, or until its terminal closes (SIGHUP). */
export async function serve(context: Context, options: ServeOptions): Promise<void> {
  const { config, terminal } = context;
  const stopping = terminal.untilStopped();
  const log = createLogger(config.logLevel, await terminal.host.openLog());
  const runtime = await openRuntime(context, {
    role: 'serve',
    mayCreate: true,
    progress: (message) => log.info(message),
    notice: (message) => log.warn(message),
    onConnectionError: (error) =>
      log.warn(
        { reason: error.message },
        'a database connection broke; the service opens a new connection when it needs one',
      ),
    backgroundConnections: BACKGROUND_CONNECTIONS[options.only ?? 'all'],
  });
  const service = await rewrapAndStart(config, runtime, log, options).catch(async (error: unknown) => {
    await runtime.close();
    throw error;
  });
  try {
    await introduce(context, runtime, log, service.listening, options);
    terminal.host.settle();
    log.info({ signal: await stopping }, 'stopping');
  } finally {
    const graceMs = stopGraceMs(context, options);
    const longerMs = Math.max(0, graceMs - STOP_GRACE_SECONDS * 1_000);
    setTimeout(() => terminal.host.exit(1), STOP_LIMIT_MS + longerMs).unref();
    await service.stop(graceMs);
    await runtime.close();
  }
  log.info('stopped');
}

async function rewrapAndStart(config: Config, runtime: Runtime, log: Logger, options: ServeOptions) {
  if (await runtime.rewrapKeys()) {
    log.info(
      'only MASTER_KEY unwraps the keys now; restart every process that has only the old master key, then remove MASTER_KEY_PREVIOUS',
    );
  }
  return await startService(config, runtime, log, options);
}

async function startService(config: Config, runtime: Runtime, log: Logger, options: ServeOptions) {
  const { db, backgroundDb, databaseUrl, keyring } = runtime;
  const metrics = await openMetrics(config, log);
  let isServing = true;
  const contact = new DatabaseContact(db);
  const health = { isServing: () => isServing, isReady: contact.isReady.bind(contact) };
  const worker =
    options.only === 'api'
      ? null
      : startWorker({
          config,
          db: backgroundDb,
          databaseUrl,
          keyring,
          log,
          contact,
          sandbox: options.demo
            ? { findTenant: () => findDemoTenant(backgroundDb), speed: options.demoSpeed ?? 1 }
            : undefined,
          ...(metrics ? { metrics: metrics.ofDeliveries() } : {}),
        });
  const budgets = await openBudgets(config, log, options);
  const stopping = new AbortController();
  const app =
    options.only === 'worker'
      ? createHealthApp(config, log, health)
      : await createApp({
          config,
          db,
          backgroundDb,
          keyring,
          budgets,
          log,
          wake: worker?.wake ?? createWakeUpSender(backgroundDb),
          ...(metrics ? { metrics: metrics.ofHttp() } : {}),
          contact,
          isServing: health.isServing,
          stopping: stopping.signal,
          ...(options.demo ? { findDemo: () => findDemoTenant(db) } : {}),
        });
  if (metrics !== null) {
    // METRICS_PORT also responds to health checks. Many new connections on PORT do not delay them, because each port has its own queue.
    healthRoutes(metrics.app, health);
  }
  metrics?.watchCounts(countsOf(app, db));
  const closing = new AppClosing(app);
  let listening: Listening | null = null;
  const stop = async (graceMs: number) => {
    isServing = false;
    closing.leaveConnections();
    const deliveries = worker?.stop(DELIVERY_GRACE_MS);
    // Load balancers check `/readyz`, and send no more calls to this process before the port closes.
    await sleep(graceMs);
    stopping.abort();
    await Promise.all([closing.close(listening), metrics?.app.close(), deliveries]);
    await budgets.close();
  };
  try {
    await app.ready();
    if (metrics !== null) {
      await listenOn(metrics.app, 'METRICS_PORT', config.host, config.metricsPort ?? 0);
    }
    listening = await listenOn(app, 'PORT', config.host, config.port);
    return { listening, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

function countsOf({ door, eventStreams }: App, db: Database): PresentCounts {
  return {
    countRequests: () => door.waiting,
    countCallers: () => countWaiting(db),
    countStreams: () => eventStreams.size,
  };
}

/** Returns for how many milliseconds a stopping process serves calls until its port closes. A worker gets no calls. */
function stopGraceMs({ config: { stopGrace }, terminal }: Context, { only }: ServeOptions): number {
  const byDefault = terminal.host.isInteractive ? 0 : STOP_GRACE_SECONDS;
  return only === 'worker' ? 0 : (stopGrace ?? byDefault) * 1_000;
}

/** A worker gets no calls, so its part of each budget would be wasted. The libraries for Redis take long to load. */
async function openBudgets(config: Config, log: Logger, options: ServeOptions): Promise<BudgetStore> {
  if (config.redisUrl === null || options.only === 'worker') {
    return createMemoryBudgets();
  }
  const { RedisBudgets } = await import('#platform/http/redis-budgets.ts');
  return await RedisBudgets.open(config.redisUrl, log);
}

function createHealthApp(config: Config, log: Logger, health: Health): App {
  const app = createHttpApp({ logger: log, trustedProxies: config.trustedProxies });
  healthRoutes(app, health);
  return app;
}

async function openMetrics({ metricsPort }: Config, log: Logger): Promise<Metrics | null> {
  if (metricsPort === null) {
    return null;
  }
  const { createMetrics } = await import('./metrics.ts');
  return createMetrics(log);
}

async function listenOn(app: App, variable: string, host: string, port: number): Promise<Listening> {
  return await listen(app, { host, port }).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `another process listens there. Set another ${variable}`,
      EACCES: `the process has no permission for this port. Set ${variable} to 1024 or higher`,
      ...HOST_REMEDIES,
    };
    const reason = reasons[error.code ?? ''];
    throw reason === undefined
      ? error
      : new OperatorError(`The service cannot listen on ${variable} ${port} of ${host} (${error.code}): ${reason}.`);
  });
}

async function findDemoTenant(db: Database): Promise<Tenant | null> {
  const demo = await import('./demo.ts');
  return await demo.findDemoTenant(db);
}

/**
 * The log line appears at every LOG_LEVEL, because the program that started the process may wait for it. By then the demo tenant is there:
 * who runs `demo` at once must not create it a second time.
 */
async function introduce(
  { config, terminal }: Context,
  runtime: Runtime,
  log: Logger,
  { address, isLocal }: Listening,
  options: ServeOptions,
): Promise<void> {
  const isTerminal = terminal.host.columns !== undefined;
  let demo: string | null = null;
  if (options.demo === true) {
    const { introduceDemo, welcomeDemoOwner } = await import('./demo.ts');
    demo = config.databaseUrl === null ? await introduceDemo(runtime, address) : null;
    const hasConsole = isTerminal && options.only !== 'worker';
    const welcome = hasConsole ? await welcomeDemoOwner(runtime, config.publicUrl ?? address) : null;
    if (welcome !== null) {
      terminal.print(welcome);
    }
  }
  const where = `Roomservice listens on ${address}${options.only === 'worker' ? '' : ` (documentation: ${address}/docs/)`}`;
  if (isTerminal) {
    terminal.print(where);
  } else {
    log.child({}, { level: 'info' }).info({ address }, where);
  }
  if (config.databaseUrl === null && !isLocal) {
    log.warn(
      'other machines can reach this service, and it uses the embedded PostgreSQL; docs/operating/embedded-database.md says when the embedded PostgreSQL is enough, and how to move to a PostgreSQL of your own',
    );
  }
  if (demo !== null) {
    terminal.print(demo);
  }
}

/** Time in milliseconds for which responses under way may continue after the port has closed. */
const ANSWER_GRACE_MS = 8_000;
/** Time in milliseconds after which a connection is closed on which the client has sent nothing. Its first request may be on its way. */
const SILENT_MS = 1_000;
const POLL_MS = 100;

/** Closes an app and its connections in such an order that clients see no error. */
class AppClosing {
  readonly #app: App;
  /** Open connections, with the time at which the app has accepted them. */
  readonly #sockets = new Map<Socket, number>();

  /** Begins to track the connections of the app. Must be called before the app listens, so that no connection is missed. */
  constructor(app: App) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.set(socket, performance.now());
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Lets each response from now on close its connection, so that a proxy opens its next connection to another process. */
  leaveConnections(): void {
    this.#app.server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  }

  /**
   * Responses under way may continue for 8 s. Then all connections are closed, because a client that does not read its response must not
   * delay the stop.
   */
  async close(listening: Listening | null): Promise<void> {
    await listening?.stop();
    this.#app.eventStreams.stop();
    this.#cutIdle();
    const idle = setInterval(() => this.#cutIdle(), POLL_MS);
    const all = setTimeout(() => this.#app.server.closeAllConnections(), ANSWER_GRACE_MS);
    // `app.close()` would wait only for the connections of the first listening socket (src/platform/http/listen.ts).
    await Promise.all(
      [...this.#sockets.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    await this.#app.close();
    clearInterval(idle);
    clearTimeout(all);
  }

  #cutIdle(): void {
    this.#app.server.closeIdleConnections();
    // Node does not count a connection as idle on which the client has sent nothing.
    for (const [socket, acceptedMs] of this.#sockets) {
      if (socket.bytesRead === 0 && performance.now() - acceptedMs > SILENT_MS) {
        socket.destroy();
      }
    }
  }
}
