import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

export type HttpMetrics = ReturnType<typeof createHttpMetrics>;

/** Durations run from the headers of a request to the last byte of its response. */
export function createHttpMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    answered(request: FastifyRequest, reply: FastifyReply): void {
      // A stream of events is not recorded. It stays open for long, so its duration says nothing about the speed of the service.
      if (request.routeOptions.config.eventSchema !== undefined) {
        return;
      }
      const route = request.routeOptions.url ?? 'unknown';
      durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    },
  };
}
