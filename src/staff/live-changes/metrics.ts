import { Counter, Gauge, type Registry } from 'prom-client';
import type { LiveCounts } from './live-changes.ts';

/** Registers the metrics of live changes. Each scrape reads the present values. */
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
  total(
    'live_looks_total',
    'Number of searches for new data of a tenant that has open streams of live changes',
    () => counts.looks,
  );
  total('live_hints_total', 'Number of hints sent over streams of live changes', () => counts.hints);
  registry.registerMetric(
    new Gauge({
      name: 'live_streams',
      help: 'Number of open streams of live changes',
      registers: [],
      collect() {
        this.set(streams.size);
      },
    }),
  );
}
