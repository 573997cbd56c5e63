// Many receivers of deliveries in one process. Each receiver is an HTTPS server with its own port on 127.0.0.1. The receivers verify the
// signature of each delivery.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '#webhooks/deliveries/signature.ts';
import { answerJobs } from './child.ts';

export interface ReceiversJob {
  /** Starts `count` receivers, all with the same certificate. */
  open?: { count: number; certificate: { key: string; cert: string } };
  /** Webhook secrets of the receivers, in the order of their ports. */
  secrets?: string[];
  /** True sets all counts to 0, and closes all connections, so that each sender has to open its own connections. */
  startsCount?: boolean;
}

/** Counts of all receivers together. */
export interface Arrivals {
  /** Number of events that arrived with a correct signature. An event that arrived twice counts once. */
  events: number;
  /** Number of requests with a wrong signature. */
  badSignatures: number;
  /** Number of connections that the receivers accepted. */
  connections: number;
  /** Time from the first to the last arrival, in milliseconds. */
  elapsedMs: number;
}

export interface ReceiversAnswer {
  /** Ports of the receivers that the field `open` of the `ReceiversJob` started. Empty if the field is missing. */
  ports: number[];
  arrivals: Arrivals;
}

const servers: Server[] = [];
let secrets: string[] = [];
let eventIds = new Set<string>();
let badSignatures = 0;
let connections = 0;
let firstAtMs = 0;
let lastAtMs = 0;

function handle(request: IncomingMessage, response: ServerResponse, secret: string): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const isCorrect = verifySignature(secret, {
      timestampSeconds: Number(request.headers['x-service-timestamp']),
      signature: String(request.headers['x-service-signature']),
      body: Buffer.concat(chunks),
    });
    if (isCorrect) {
      recordArrival(String(request.headers['x-service-event-id']));
    } else {
      badSignatures += 1;
    }
    response.writeHead(isCorrect ? 204 : 401).end();
  });
}

function recordArrival(eventId: string): void {
  lastAtMs = performance.now();
  if (eventIds.size === 0) {
    firstAtMs = lastAtMs;
  }
  eventIds.add(eventId);
}

async function open({ count, certificate }: NonNullable<ReceiversJob['open']>): Promise<number[]> {
  const opened = Array.from({ length: count }, async (_, index) => {
    const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) =>
      handle(request, response, secrets[index] ?? ''),
    );
    server.on('connection', () => {
      connections += 1;
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  });
  return await Promise.all(opened);
}

function startCount(): void {
  servers.forEach((server) => server.closeAllConnections());
  eventIds = new Set();
  badSignatures = 0;
  connections = 0;
}

answerJobs(async (job: ReceiversJob): Promise<ReceiversAnswer> => {
  const ports = job.open ? await open(job.open) : [];
  secrets = job.secrets ?? secrets;
  if (job.startsCount) {
    startCount();
  }
  const elapsedMs = lastAtMs - firstAtMs;
  return { ports, arrivals: { events: eventIds.size, badSignatures, connections, elapsedMs } };
});
