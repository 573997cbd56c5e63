// The load generator. It runs autocannon in its own process.
import autocannon from 'autocannon';
import { answerJobs } from './child.ts';
import { percentile } from './statistics.ts';

/** Call of the API. The load generator replaces `{id}` in the body with a text that is different in each call. */
export interface Call {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadJob {
  url: string;
  /** Calls to repeat. They are distributed over the connections, and each connection repeats its own calls in a fixed order. */
  calls: Call[];
  connections: number;
  seconds: number;
  /** Expected status of every response. The job fails if a response has another status. */
  status: number;
  /** Prefix of the texts that replace `{id}` in the bodies of this job. Each job has a different prefix. */
  idPrefix: string;
}

/** Result of one slice. A slice is a measurement that takes a few seconds. */
export interface Slice {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /**
   * Share of one CPU core that the load generator used, from 0 to 1. If the share is near 1, the load generator was too slow, so the result
   * does not show the limit of the service.
   */
  generatorLoad?: number;
}

/**
 * Interval in milliseconds at which autocannon checks if the time of a measurement is over. The default of 1 s would prolong each
 * measurement to a whole number of seconds.
 */
const SAMPLE_EVERY_MS = 50;

async function generate({ url, calls, connections, seconds, status, idPrefix }: LoadJob): Promise<Slice> {
  let nextClient = 0;
  let nextId = 0;
  const setupRequest = (request: autocannon.Request) => ({
    ...request,
    body: String(request.body).replace('{id}', () => `${idPrefix}-${(nextId += 1)}`),
  });
  const durations: number[] = [];
  const unexpected = new Map<number, number>();
  let cpuBefore = process.cpuUsage();
  let startedAt = performance.now();
  const options: autocannon.Options = {
    url,
    connections,
    duration: seconds,
    sampleInt: SAMPLE_EVERY_MS,
    setupClient(client) {
      const own = calls.filter((_, index) => index % connections === nextClient % calls.length);
      nextClient += 1;
      client.setRequests(own.map((call) => (call.body?.includes('{id}') ? { ...call, setupRequest } : { ...call })));
    },
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error, ended) => (error ? reject(error as Error) : resolve(ended)));
    // Autocannon first builds all requests and then emits `start`. The measurement begins at `start`, so it does not include the building.
    run.on('start', () => {
      cpuBefore = process.cpuUsage();
      startedAt = performance.now();
    });
    run.on('response', (_client, statusCode, _bytes, durationMs) => {
      durations.push(durationMs);
      if (statusCode !== status) {
        unexpected.set(statusCode, (unexpected.get(statusCode) ?? 0) + 1);
      }
    });
  });
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  if (unexpected.size > 0 || result.errors > 0) {
    const seen = [...unexpected].map(([code, count]) => `${count} × ${code}`);
    const others = seen.join(', ') || 'none';
    throw new Error(
      `Every response should have the status ${status}. Other statuses: ${others}. Connection errors: ${result.errors}.`,
    );
  }
  durations.sort((a, b) => a - b);
  return {
    perSecond: durations.length / elapsedSeconds,
    p50Ms: percentile(durations, 0.5),
    p99Ms: percentile(durations, 0.99),
    generatorLoad: (cpu.user + cpu.system) / 1e6 / elapsedSeconds,
  };
}

answerJobs(generate);
