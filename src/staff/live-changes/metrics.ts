import { Counter, Gauge, type Registry } from 'prom-client';
import type { LiveCounts } from './live-changes.ts';

/** Registers the metrics of live changes. The numbers are read each time the metrics are collected. */
export function registerLiveMetrics(registry: Registry, counts: LiveCounts, streams: { size: number }): void {
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  total('live_looks_total', 'Looks at the newest changes of one watched tenant', () => counts.looks);
  total('live_hints_total', 'Hints that were sent to one stream of live changes', () => counts.hints);
  registry.registerMetric(
    new Gauge({
      name: 'live_streams',
      help: 'Streams of live changes that are open now',
      registers: [],
      collect() {
        this.set(streams.size);
      },
    }),
  );
}
