// HTTPS server that receives deliveries, in its own process. It accepts every path, but it never responds to a path that begins with
// /hang/.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { answerJobs } from './child.ts';

export interface ReceiverJob {
  /**
   * Certificate of the server. The benchmark sends messages (jobs) to this process. The server starts to listen when the first job with a
   * certificate arrives.
   */
  certificate?: { key: string; cert: string };
  /** True starts the recording of arrivals, and false stops it. If left out, the recording does not change. */
  isRecording?: boolean;
}

export interface ReceiverAnswer {
  port: number;
  /** Number of requests to which the receiver has responded since its start. */
  answered: number;
  /**
   * Arrivals that were recorded since the previous response of this process to the benchmark. The key is an order id. The value is the time
   * at which the headers of the first delivery for this order arrived, in milliseconds since 1970.
   */
  arrivals: Map<string, number>;
  /** Number of second and later deliveries for the same order since the recording started. */
  repeated: number;
}

let port = 0;
let answered = 0;
let isRecording = false;
let arrivals = new Map<string, number>();
let repeated = 0;
/** Orders whose delivery has arrived since the recording started. */
let arrived = new Set<string>();

function handle(request: IncomingMessage, response: ServerResponse): void {
  const atMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (isRecording) {
      recordArrival(Buffer.concat(chunks).toString(), atMs);
    }
    if (!request.url?.startsWith('/hang/')) {
      answered += 1;
      response.writeHead(204).end();
    }
  });
}

function recordArrival(body: string, atMs: number): void {
  const { order_id } = (JSON.parse(body) as { data: { order_id: string } }).data;
  if (arrived.has(order_id)) {
    repeated += 1;
    return;
  }
  arrived.add(order_id);
  arrivals.set(order_id, atMs);
}

async function listen(certificate: { key: string; cert: string }): Promise<number> {
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

answerJobs(async (job: ReceiverJob): Promise<ReceiverAnswer> => {
  if (job.certificate && port === 0) {
    port = await listen(job.certificate);
  }
  if (job.isRecording && !isRecording) {
    arrived = new Set();
    repeated = 0;
  }
  isRecording = job.isRecording ?? isRecording;
  const answer = { port, answered, arrivals, repeated };
  arrivals = new Map();
  return answer;
});
