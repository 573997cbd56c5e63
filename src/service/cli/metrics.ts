import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createHttpApp } from '#platform/http/app.ts';
import { createHttpMetrics, type PresentCounts, registerCounts } from '#platform/http/metrics.ts';
import { createDeliveryMetrics } from '#webhooks/deliveries/metrics.ts';

/** Metrics that a process shows at METRICS_PORT. A process registers only the metrics of those parts of the service that it runs. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of the process. If METRICS_PORT is not set, this file is not loaded, because no program can read the metrics. */
export function createMetrics(log: Logger) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const app = createHttpApp({ logger: log, trustedProxies: [] });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  return {
    ofHttp: () => createHttpMetrics(registry),
    watchCounts: (counts: PresentCounts) => registerCounts(registry, counts),
    ofDeliveries: () => createDeliveryMetrics(registry),
    app,
  };
}
