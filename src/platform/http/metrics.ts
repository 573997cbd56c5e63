import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Bounds } from '../lib/bounds.ts';
import type { BodyCounts } from './body-budget.ts';
import type { SlowReaders } from './slow-readers.ts';

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

/** The bounds of requests, and what they hold back, read when it is asked for. */
export interface BoundedWork {
  bounds: Bounds;
  bodies: BodyCounts;
  /** Streamed lists that wait for their reader. */
  streams: Pick<SlowReaders, 'countWaiting'>;
  /** Callers that wait for a database connection. */
  countWaiting: () => number;
}

export function registerBoundMetrics(registry: Registry, { bounds, bodies, streams, countWaiting }: BoundedWork): void {
  registry.registerMetric(boundsGauge(bounds));
  registry.registerMetric(
    new Gauge({
      name: 'http_body_bytes',
      help: 'Bytes of request bodies above 64 KiB, and of all bodies of strangers, that are held now',
      registers: [],
      collect() {
        this.set(bodies.heldBytes);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: 'http_bodies_refused_total',
      help: 'Request bodies refused with 429, by the bound that they would have gone beyond',
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
      help: 'Streamed lists that wait for their reader, each with some 200 KiB of memory',
      registers: [],
      collect() {
        this.set(streams.countWaiting());
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'database_waiting_callers',
      help: 'Callers that wait for a database connection, in a line for each tenant',
      registers: [],
      collect() {
        this.set(countWaiting());
      },
    }),
  );
}

/** So that an alert may compare what is held with what may be held, whatever is set. */
function boundsGauge({ bodyBytes, ...counts }: Bounds): Gauge {
  const gauge = new Gauge({
    name: 'request_bound',
    help: 'What a request may cost at most, as it is set: bytes for names that end in bytes, else a count',
    labelNames: ['bound'],
    registers: [],
  });
  const bodies = Object.entries(bodyBytes).map(([whose, bytes]) => [`body_${snakeCase(whose)}_bytes`, bytes] as const);
  for (const [bound, most] of [...Object.entries(counts), ...bodies]) {
    gauge.set({ bound: snakeCase(bound) }, most);
  }
  return gauge;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
