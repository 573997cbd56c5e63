import assert from 'node:assert/strict';
import { runCommand, startServing } from './command.ts';
import { dayAhead } from './hotel.ts';
import { newMigratedDataDir } from './migrated-data-dir.ts';
import type { Receiver } from './receiver.ts';
import type { Answer } from './http.ts';
import { call } from './service.ts';
import { eventually } from './webhooks.ts';

type Send = (method: string, path: string, json?: unknown) => Promise<Answer>;

/** Functions that call a running service, as a partner and as the owner of the demo tenant. */
export interface DemoClient {
  partner: Send;
  owner: Send;
  /** Places an order and confirms it, which causes one event. @returns the external id of the order */
  causeEvent(): Promise<string>;
}

/** A DATA_DIR whose embedded database has the demo tenant with orders, stays, events and a webhook. */
export interface FilledDataDir {
  dataDir: string;
  /** Variables with which the service may call the receiver. */
  env: Record<string, string>;
  webhookSecret: string;
  cursor: string;
  /** What `look` read before the service stopped. */
  seen: Answer['body'][];
  /** Signs in as the owner at the service with this URL. The partner has the credential of `roomservice demo`. */
  connect(url: string): Promise<DemoClient>;
  /** Reads orders, stays, availability, events and deliveries. @returns the bodies */
  look(client: DemoClient): Promise<Answer['body'][]>;
}

const ORDERS = 3;
const FEED = '/v1/third-party/events/';

/** Makes a DATA_DIR with the demo tenant, and adds data through the API of a service that it starts and stops. */
export async function fillDataDir(receiver: Receiver, receiverCertificatePath: string): Promise<FilledDataDir> {
  const dataDir = await newMigratedDataDir();
  const env = { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', NODE_EXTRA_CA_CERTS: receiverCertificatePath };
  const demo = await runCommand(['demo', '--json'], { env: { ...env, DATA_DIR: dataDir } });
  assert.equal(demo.code, 0, demo.stderr);
  const connect = connectWith(JSON.parse(demo.stdout));
  const serving = await startServing([], { env: { ...env, DATA_DIR: dataDir } });
  const client = await connect(serving.url);

  const webhook = await client.partner('POST', '/v1/third-party/webhook/', { webhook_url: receiver.url });
  assert.equal(webhook.status, 200, webhook.text);
  const orders = [];
  for (let count = 0; count < ORDERS; count += 1) {
    orders.push(await client.causeEvent());
  }
  const roomTypeId = await bookStays(client);
  const first = await client.partner('GET', `${FEED}?limit=2`);
  await receiver.waitFor(ORDERS + 2);
  await waitForOutcomes(client);
  const look = lookWith(orders, roomTypeId);
  const seen = await look(client);
  serving.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);

  return { dataDir, env, webhookSecret: webhook.body.webhook_secret, cursor: first.body.next, connect, seen, look };
}

function lookWith(orders: string[], roomTypeId: string): FilledDataDir['look'] {
  const ofPartner = [
    ...orders.map((id) => `orders/${id}/`),
    'hotels/reservations/stay-1/',
    `hotels/availability/?room_type_id=${roomTypeId}&check_in=${dayAhead(30)}&check_out=${dayAhead(35)}`,
    'events/?after=',
  ];
  const ofOwner = ['orders', 'reservations', 'webhook-deliveries'];
  return async ({ partner, owner }) => {
    const answers = await Promise.all([
      ...ofPartner.map((path) => partner('GET', `/v1/third-party/${path}`)),
      ...ofOwner.map((list) => owner('GET', `/v1/staff/${list}/`)),
    ]);
    for (const { status, text } of answers) {
      assert.equal(status, 200, text);
    }
    return answers.map(({ body }) => body);
  };
}

/** Waits until each delivery has ended and the service has stored its final status. */
export async function waitForOutcomes({ owner }: DemoClient): Promise<void> {
  await eventually(async () => {
    const { body } = await owner('GET', '/v1/staff/webhook-deliveries/');
    return body.results.every(({ status }: { status: string }) => status !== 'pending');
  }, 'end of all deliveries');
}

interface Demo {
  owner: { email: string; password: string };
  credential: { api_key: string; api_secret: string };
}

/** Returns a function that makes a client of a service from the output of `roomservice demo --json`. */
export function connectWith({ owner, credential }: Demo): FilledDataDir['connect'] {
  const key = { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret };
  return async (url) => {
    const signIn = await call(url, 'POST', '/v1/auth/token/', { json: owner });
    assert.equal(signIn.status, 200, signIn.text);
    const token = { authorization: `Bearer ${signIn.body.access_token}` };
    const send = (headers: Record<string, string>) => (method: string, path: string, json?: unknown) =>
      call(url, method, path, { headers, ...(json === undefined ? {} : { json }) });
    const client = { partner: send(key), owner: send(token) };
    return { ...client, causeEvent: () => causeEvent(client) };
  };
}

let placed = 0;

async function causeEvent({ partner, owner }: Pick<DemoClient, 'partner' | 'owner'>): Promise<string> {
  placed += 1;
  const externalId = `order-${placed}`;
  const order = { external_order_id: externalId, items: [{ item_id: 'STARTERS-PAPADOM', quantity: placed }] };
  const answer = await partner('POST', '/v1/third-party/orders/', order);
  assert.equal(answer.status, 201, answer.text);
  const confirmed = await owner('POST', `/v1/staff/orders/${answer.body.order_id}/status/`, { status: 'confirmed' });
  assert.equal(confirmed.status, 200, confirmed.text);
  return externalId;
}

/** Books two stays in the first room type that the API lists. @returns the id of this room type */
export async function bookStays({ partner }: DemoClient): Promise<string> {
  const rooms = await partner('GET', '/v1/third-party/hotels/rooms/');
  const roomTypeId: string = rooms.body[0].room_type_id;
  for (const [id, from, to] of [
    ['stay-1', 30, 33],
    ['stay-2', 31, 35],
  ] as const) {
    const answer = await partner('POST', '/v1/third-party/hotels/reservations/', {
      external_reservation_id: id,
      room_type_id: roomTypeId,
      check_in: dayAhead(from),
      check_out: dayAhead(to),
      guest: { name: 'Ana Lima', phone: '+351 912 000 000' },
    });
    assert.equal(answer.status, 201, answer.text);
  }
  return roomTypeId;
}
