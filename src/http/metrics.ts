import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

export interface HttpMetrics {
  answered(request: FastifyRequest, reply: FastifyReply): void;
}

/** Time from the first byte of a request to the last of its answer, by route and status. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    answered(request, reply) {
      const route = request.routeOptions.url ?? 'unknown';
      durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    },
  };
}
