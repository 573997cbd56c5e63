/**
 * Example of a webhook receiver to copy from. It verifies the signature of every delivery over the raw bytes of the body, handles each
 * event once, and responds immediately. Start it with `npm run receiver`. The command prints the settings that the service
 * needs to call this receiver.
 *
 * Environment variables:
 * - BASE, KEY, SECRET: address of the service, API key and API secret, as the service prints them.
 * - WEBHOOK_SECRET: the webhook secret. If it is missing, the receiver registers its URL with the service and gets the secret. For this, it
 *   uses BASE, KEY and SECRET.
 * - PORT: the port to listen on.
 * - RECEIVER_DIR: the folder for the certificate and the registration.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { type Certificate, readOrMakeCertificate } from './certificate.ts';
import { register } from './registration.ts';
import { verify } from './verify.ts';

interface Event {
  event: string;
  event_id: string;
  occurred_at: string;
  data: { status: string; external_order_id?: string; external_reservation_id?: string };
}

/** Body of a test call. Staff of the tenant send it to try this receiver. It is signed like an event, but it does not report an event. */
interface TestCall {
  test: true;
  event_id: string;
}

/** Largest accepted body in bytes. An event is much smaller, because it holds only ids, a time and a status. */
const MAX_BODY_BYTES = 65_536;
/**
 * Number of event ids that this example keeps in memory to recognize repeated deliveries. The service retries a delivery only for some
 * minutes, so this number is enough here. A real receiver stores the ids in its database, in the same transaction as the changes that the
 * event causes.
 */
const MAX_HANDLED_IDS = 10_000;

const { BASE = 'http://127.0.0.1:8080', KEY = '', SECRET = '', WEBHOOK_SECRET = '', PORT = '9443' } = process.env;
const folder = process.env['RECEIVER_DIR'] ?? join(import.meta.dirname, '.certificate');
const handledIds = new Set<string>();
let webhookSecret = WEBHOOK_SECRET;

async function main(): Promise<void> {
  const certificate = await readOrMakeCertificate(folder);
  console.log(howToStart(certificate));
  if (WEBHOOK_SECRET === '' && (KEY === '' || SECRET === '')) {
    console.log(
      'The service prints a line "export BASE=… KEY=… SECRET=…". Run this line in a second shell, and then run there:\n',
    );
    console.log('  npm run receiver\n');
    return;
  }
  const hooks = `https://localhost:${await listen(certificate)}/hooks`;
  if (WEBHOOK_SECRET === '') {
    const access = { base: BASE, key: KEY, secret: SECRET };
    const registration = await register(access, hooks, join(folder, 'registration.json'));
    webhookSecret = registration.webhookSecret;
    console.log(`Registered ${registration.url}`);
  }
  console.log(`Receiving on ${hooks}`);
}

function howToStart({ path }: Certificate): string {
  return `
Start or restart the service with these settings, so that it trusts this certificate and may call this machine:

  WEBHOOK_ALLOW_PRIVATE_NETWORK=true NODE_EXTRA_CA_CERTS=${relative('', path)} npm start
`;
}

/** Starts the HTTPS server and returns its port. */
async function listen({ key, cert }: Certificate): Promise<number> {
  const server = createServer({ key, cert }, (request, response) => void respond(request, response));
  server.on('tlsClientError', (error) => {
    console.log(
      `A TLS connection failed (${error.message}). Check that the caller trusts the certificate of this receiver.`,
    );
  });
  server.listen(Number(PORT), '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const status = await receive(request).catch((error: unknown) => {
    console.log(`failed to handle a delivery: ${String(error)}`);
    return 500;
  });
  response.writeHead(status).end();
}

/** Verifies and handles a request, and returns the HTTP status of the response. The service retries a delivery if the status is not 2xx. */
async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST' || !/^\/hooks(\/|$)/.test(request.url ?? '')) {
    return 404;
  }
  const body = await readBody(request);
  if (body === null) {
    return 413;
  }
  if (webhookSecret === '') {
    // The receiver does not know its webhook secret until the registration has ended, so it cannot verify this delivery yet. The service
    // retries the delivery after a 503.
    return 503;
  }
  if (!verify(webhookSecret, header(request, 'timestamp'), header(request, 'signature'), body)) {
    console.log(
      'refused a delivery: its signature is not valid for our secret, or its timestamp is too old or in the future',
    );
    return 401;
  }
  const message = JSON.parse(body.toString()) as Event | TestCall;
  if ('test' in message) {
    console.log(`verified a test call ${message.event_id}`);
  } else {
    handle(message);
  }
  return 204;
}

/**
 * Handles each event once. Recognizes a repeated event by the event id in the body, because the signature does not cover the header with
 * the event id.
 */
function handle({ event, event_id: id, data }: Event): void {
  if (handledIds.has(id)) {
    console.log(`repeated ${event} ${id}`);
    return;
  }
  handledIds.add(id);
  const [oldest] = handledIds;
  if (handledIds.size > MAX_HANDLED_IDS && oldest !== undefined) {
    handledIds.delete(oldest);
  }
  const externalId = data.external_order_id ?? data.external_reservation_id;
  console.log(`verified ${event} ${JSON.stringify(externalId)} status ${data.status}`);
}

/**
 * Returns the header `x-service-<name>`, or an empty text if the header is missing. `service` is the default brand in the header names. The
 * setting WEBHOOK_HEADER_BRAND of the service can replace it with another brand.
 */
function header(request: IncomingMessage, name: string): string {
  return String(request.headers[`x-service-${name}`] ?? '');
}

/** Reads the body and returns its raw bytes. Returns null if the body is larger than MAX_BODY_BYTES. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      return null;
    }
  }
  return Buffer.concat(chunks);
}

try {
  await main();
} catch (error) {
  console.error(String(error));
  process.exit(1);
}
