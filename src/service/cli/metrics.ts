import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from '#platform/db/database.ts';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { type BoundedWork, createHttpMetrics, type HttpMetrics, registerBoundMetrics } from '#platform/http/metrics.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';

/** What a process tells of itself at METRICS_PORT: of what it does, the API or the deliveries or both. */
export interface Metrics {
  ofHttp(): HttpMetrics;
  /** Tells what the bounds of requests hold back. */
  watchBounds(work: BoundedWork): void;
  ofDeliveries(db: Database): DeliveryMetrics;
  ofWrites(areHanging: () => boolean): void;
  /** Answers `/metrics`. */
  app: App;
}

/** Nothing is counted that nobody reads: this file is loaded, and called, only where METRICS_PORT is set. */
export function createMetrics(log: Logger): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const app = createHttpApp({ logger: log, trustedProxies: [] });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  return {
    ofHttp: () => createHttpMetrics(registry),
    watchBounds: (work) => registerBoundMetrics(registry, work),
    ofDeliveries: (db) => createDeliveryMetrics(registry, db),
    ofWrites: (areHanging) => registerHungWrites(registry, areHanging),
    app,
  };
}

function registerHungWrites(registry: Registry, areHanging: () => boolean): void {
  const gauge = new Gauge({
    name: 'database_writes_hanging',
    help: '1 while the database waits for standbys it has lost, and writes are answered 503',
    registers: [],
    collect() {
      this.set(areHanging() ? 1 : 0);
    },
  });
  registry.registerMetric(gauge);
}
