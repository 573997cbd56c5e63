import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Bounds } from '../lib/bounds.ts';
import type { BodyCounts } from './body-budget.ts';
import type { SlowReaders } from './slow-readers.ts';

export interface HttpMetrics {
  /** Records the duration and the status of a request whose response has ended. */
  answered(request: FastifyRequest, reply: FastifyReply): void;
}

/**
 * Creates the metric of the duration of requests, by method, route and status. The time of a request begins when the service has read its
 * headers. It ends when the operating system has taken the last byte of the response.
 */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    answered(request, reply) {
      // A stream of events is not recorded. It stays open for long, so its duration says nothing about the speed of the service.
      if (request.routeOptions.config.eventSchema !== undefined) {
        return;
      }
      const route = request.routeOptions.url ?? 'unknown';
      durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    },
  };
}

/**
 * Configured bounds on requests, and counters of the resources that requests use, for example the bytes of bodies in memory. The bounds and
 * the counters are read at each collection of the metrics.
 */
export interface BoundedWork {
  bounds: Bounds;
  bodies: BodyCounts;
  /** Counts the streamed lists that wait because their clients do not read them fast enough. */
  streams: Pick<SlowReaders, 'countWaiting'>;
  /** Returns the number of callers that wait for a database connection. */
  countWaiting: () => number;
}

export function registerBoundMetrics(registry: Registry, { bounds, bodies, streams, countWaiting }: BoundedWork): void {
  registry.registerMetric(boundsGauge(bounds));
  registry.registerMetric(
    new Gauge({
      name: 'http_body_bytes',
      help: 'Bytes of request bodies that are in memory now: bodies above 64 KiB, and all bodies of callers without credentials',
      registers: [],
      collect() {
        this.set(bodies.heldBytes);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: 'http_bodies_refused_total',
      help: 'Request bodies refused with 429, by the bound that they would have exceeded',
      labelNames: ['bound'],
      registers: [],
      collect() {
        this.reset();
        for (const [bound, count] of Object.entries(bodies.refused)) {
          this.inc({ bound }, count);
        }
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'http_waiting_streams',
      help: 'Streamed lists that wait for their reader, each with about 200 KiB of memory',
      registers: [],
      collect() {
        this.set(streams.countWaiting());
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'database_waiting_callers',
      help: 'Callers that wait for a database connection',
      registers: [],
      collect() {
        this.set(countWaiting());
      },
    }),
  );
}

/** Creates a gauge with the configured bounds, so that an alert can compare the current use with them. */
function boundsGauge({ bodyBytes, ...counts }: Bounds): Gauge {
  const gauge = new Gauge({
    name: 'request_bound',
    help: 'Configured limit on requests and responses. In bytes if the name ends with bytes, otherwise a number of entries or streams',
    labelNames: ['bound'],
    registers: [],
  });
  const bodies = Object.entries(bodyBytes).map(([scope, bytes]) => [`body_${snakeCase(scope)}_bytes`, bytes] as const);
  for (const [bound, most] of [...Object.entries(counts), ...bodies]) {
    gauge.set({ bound: snakeCase(bound) }, most);
  }
  return gauge;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
