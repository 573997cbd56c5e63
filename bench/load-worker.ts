// The load generator. It runs autocannon in its own process.
import autocannon from 'autocannon';
import { answerJobs } from './child.ts';
import { percentile } from './statistics.ts';

/** Call of the API. The load generator replaces `{id}` in its body by a text that no other call has. */
export interface Call {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadJob {
  url: string;
  /** Calls, distributed over the connections. Each connection repeats its own calls in turn. */
  calls: Call[];
  connections: number;
  seconds: number;
  /** Expected status. Every other status fails the job. */
  status: number;
  /** Prefix of the texts that replace `{id}` in the bodies of this job. No other job has this prefix. */
  idPrefix: string;
}

/** Result of one slice, which is a measurement over a few seconds. */
export interface Slice {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Share of one core that the load generator used, from 0 to 1. Near 1, the generator limits the result. */
  generatorLoad?: number;
}

/** Interval in milliseconds at which autocannon checks if a run is over. Its default of 1 s would prolong a run to a full second. */
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
    // At this moment all requests are built, so the measurement does not include that work.
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
