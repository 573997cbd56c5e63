// The receiver of deliveries: HTTPS, in a process of its own. Every path is a receiver; those that begin with /hang/ never answer.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { answerJobs } from './child.ts';

export interface ReceiverJob {
  /** Listens from now on, where it does not yet. */
  certificate?: { key: string; cert: string };
  /** From now on arrivals are remembered, or not. */
  isRecording?: boolean;
}

export interface ReceiverAnswer {
  port: number;
  /** POSTs that were answered, since the start. */
  answered: number;
  /** Remembered since the last job: when the head of each event's first POST came, by order, in milliseconds since 1970. */
  arrivals: Map<string, number>;
}

let port = 0;
let answered = 0;
let isRecording = false;
let arrivals = new Map<string, number>();

function take(request: IncomingMessage, response: ServerResponse): void {
  const atMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (isRecording) {
      remember(Buffer.concat(chunks).toString(), atMs);
    }
    if (!request.url?.startsWith('/hang/')) {
      answered += 1;
      response.writeHead(204).end();
    }
  });
}

function remember(body: string, atMs: number): void {
  const { order_id } = (JSON.parse(body) as { data: { order_id: string } }).data;
  if (!arrivals.has(order_id)) {
    arrivals.set(order_id, atMs);
  }
}

async function listen(certificate: { key: string; cert: string }): Promise<number> {
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, take).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

answerJobs(async (job: ReceiverJob): Promise<ReceiverAnswer> => {
  if (job.certificate && port === 0) {
    port = await listen(job.certificate);
  }
  isRecording = job.isRecording ?? isRecording;
  const answer = { port, answered, arrivals };
  arrivals = new Map();
  return answer;
});
