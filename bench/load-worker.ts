// The load generator: autocannon, in a process of its own.
import autocannon from 'autocannon';
import { answerJobs } from './child.ts';
import { percentile } from './statistics.ts';

/** A call of the API. `{id}` in its body stands for a text that no other call has. */
export interface Call {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadJob {
  url: string;
  /** Spread over the connections, each of which goes through its own again and again. */
  calls: Call[];
  connections: number;
  seconds: number;
  /** The only status that is right. */
  status: number;
  /** Makes the texts for `{id}` unique to this job. */
  idPrefix: string;
}

/** What a slice came to. */
export interface Slice {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** How much of one core the generator used, 0 to 1: near 1 it is the generator that was measured. */
  generatorLoad?: number;
}

/** Ends a run soon after its time, not with the next whole second. */
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
    // All calls are built by now.
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
    throw new Error(`expected ${status} alone, got ${seen.join(', ') || 'nothing else'}, and ${result.errors} errors`);
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
