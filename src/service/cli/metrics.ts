import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createHttpApp } from '#platform/http/app.ts';
import { type Health, healthRoutes } from '#platform/http/health.ts';
import { createHttpMetrics } from '#platform/http/metrics.ts';
import { createDeliveryMetrics } from '#webhooks/deliveries/metrics.ts';

/** Creates the app of METRICS_PORT and the metrics of the process, which registers only those of the parts that it runs. */
export function createMetrics(log: Logger, health: Health) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const app = createHttpApp({ logger: log, trustedProxies: [] });
  // Many new connections on PORT do not delay these health checks, because each port has its own queue.
  healthRoutes(app, health);
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  return {
    ofHttp: () => createHttpMetrics(registry),
    ofDeliveries: () => createDeliveryMetrics(registry),
    watch(name: string, help: string, count: () => number): void {
      const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(count()) });
    },
    app,
  };
}
