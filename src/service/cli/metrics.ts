import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type App, createHttpApp } from '#platform/http/app.ts';
import { createHttpMetrics, type HttpMetrics, type PresentCounts, registerCounts } from '#platform/http/metrics.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';

/** Metrics that a process shows at METRICS_PORT. A process registers only the metrics of those parts of the service that it runs. */
export interface Metrics {
  ofHttp(): HttpMetrics;
  watchCounts(counts: PresentCounts): void;
  ofDeliveries(): DeliveryMetrics;
  /** App that serves `/metrics`. */
  app: App;
}

/** Creates the metrics of the process. If METRICS_PORT is not set, this file is not loaded, because no program can read the metrics. */
export function createMetrics(log: Logger): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const app = createHttpApp({ logger: log, trustedProxies: [] });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  return {
    ofHttp: () => createHttpMetrics(registry),
    watchCounts: (counts) => registerCounts(registry, counts),
    ofDeliveries: () => createDeliveryMetrics(registry),
    app,
  };
}
