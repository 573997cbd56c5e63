/**
 * A webhook receiver to copy from: it verifies every delivery over its raw bytes, takes each event once, answers at once.
 * `npm run receiver` says what to do next. The secret comes from WEBHOOK_SECRET, or it registers itself with the BASE, KEY
 * and SECRET that the service prints. PORT is where it listens, RECEIVER_DIR where it keeps certificate and registration.
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

/** Events hold identifiers and a status, so they are far smaller. */
const MAX_BODY_BYTES = 65_536;
/** A retry follows within minutes. A real receiver keeps the ids in its database, written together with what they caused. */
const MAX_CACHED = 10_000;

const { BASE = 'http://127.0.0.1:8080', KEY = '', SECRET = '', WEBHOOK_SECRET = '', PORT = '9443' } = process.env;
const folder = process.env['RECEIVER_DIR'] ?? join(import.meta.dirname, '.certificate');
const remembered = new Set<string>();
let webhookSecret = WEBHOOK_SECRET;

async function main(): Promise<void> {
  const certificate = await readOrMakeCertificate(folder);
  console.log(howToStart(certificate));
  if (WEBHOOK_SECRET === '' && (KEY === '' || SECRET === '')) {
    console.log('Give a second shell the line "export BASE=… KEY=… SECRET=…" that it prints, and run there:\n');
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
Start the service (again, where it runs) so that it trusts this certificate and may call this machine:

  WEBHOOK_ALLOW_PRIVATE_NETWORK=true NODE_EXTRA_CA_CERTS=${relative('', path)} npm start
`;
}

/** @returns the port */
async function listen({ key, cert }: Certificate): Promise<number> {
  const server = createServer({ key, cert }, (request, response) => void answer(request, response));
  server.on('tlsClientError', (error) => {
    console.log(`A caller broke off (${error.message}): does it trust the certificate?`);
  });
  server.listen(Number(PORT), '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const status = await receive(request).catch((error: unknown) => {
    console.log(`failed: ${String(error)}`);
    return 500;
  });
  response.writeHead(status).end();
}

/** @returns the status to answer with: anything but 2xx has the delivery sent again */
async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST' || !/^\/hooks(\/|$)/.test(request.url ?? '')) {
    return 404;
  }
  const body = await readBody(request);
  if (body === null) {
    return 413;
  }
  if (webhookSecret === '') {
    return 503; // we are only just registering
  }
  if (!verify(webhookSecret, header(request, 'timestamp'), header(request, 'signature'), body)) {
    console.log('refused: not signed with our secret, or not lately');
    return 401;
  }
  take(JSON.parse(body.toString()) as Event);
  return 204;
}

/** Takes an event once, by the id in its body: the signature covers that one, and not the header. */
function take({ event, event_id: id, data }: Event): void {
  if (remembered.has(id)) {
    console.log(`repeated ${event} ${id}`);
    return;
  }
  remembered.add(id);
  const [oldest] = remembered;
  if (remembered.size > MAX_CACHED && oldest !== undefined) {
    remembered.delete(oldest);
  }
  const about = data.external_order_id ?? data.external_reservation_id;
  console.log(`verified ${event} ${JSON.stringify(about)} status ${data.status}`);
}

/** The brand, `Service`, is the default of WEBHOOK_HEADER_BRAND. */
function header(request: IncomingMessage, name: string): string {
  return String(request.headers[`x-service-${name}`] ?? '');
}

/** @returns the raw bytes, or null where there are too many */
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
