import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { CHANNELS, channelHeaders, RECEIVER, type TestChannel } from '../../support/channel.ts';
import { dayAhead, RESERVATIONS, ROOMS, STAFF_RESERVATIONS } from '../../support/hotel.ts';
import type { Answer, CallOptions } from '../../support/http.ts';
import { newEmail, PEOPLE } from '../../support/people.ts';
import { MENU, ORDERS, STAFF_ORDERS } from '../../support/restaurant.ts';
import { CONSOLE, consoleHeaders, SESSION, tokenOf } from '../../support/sessions.ts';
import { PASSWORD } from './house.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const PMS_CREDENTIALS = '/v1/channel-manager/credentials/';
const PROPERTIES = '/v1/channel-manager/pms/properties/';

const STOCK = 8;
const ORDER_STATUSES = ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled'];
const STAY_STATUSES = ['completed', 'no_show', 'cancelled'];
/** External ids with characters that have a special meaning in a URL path, and external ids of the maximum length. */
const EXTERNAL_IDS = ['plain', 'a/b c%2F?&#', '..', '漢字', '𝄞'.repeat(150), 'x'.repeat(150), 'e\u0301', '%00'];

type Headers = Record<string, string>;
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export interface Callers {
  owner: Headers;
  /** Headers of the owner with a session cookie in place of a token. */
  console: Headers;
  staff: Headers;
  partner: Headers;
  pms: Headers;
  channel: TestChannel;
  revoked: Headers;
  /** Ids with which the fuzzer authenticates. The cases never contain them, because a case could otherwise revoke or remove them. */
  ownIds: string[];
}

/** Signs in the people of a tenant, and creates credentials and a channel. This also works for a tenant without features. */
export async function openCallers(call: Call, slug: string): Promise<Callers> {
  const signIn = async (name: string): Promise<Headers> => {
    const json = { email: `${name}@${slug}.example`, password: PASSWORD };
    const { access_token } = await made(call, '/v1/auth/token/', { json }, 200);
    return { authorization: `Bearer ${access_token}` };
  };
  const owner = await signIn('owner');
  const json = { email: `owner@${slug}.example`, password: PASSWORD };
  const session = await call('POST', SESSION, { headers: CONSOLE, json });
  const create = (path: string, fields: object) => made(call, path, { headers: owner, json: fields });
  const partner = await create(CREDENTIALS, { label: 'its own' });
  const pms = await create(PMS_CREDENTIALS, { label: 'its own' });
  const channel = await create(CHANNELS, { source: 'its own' });
  const revoked = await create(CREDENTIALS, { label: 'revoked' });
  await made(call, `${CREDENTIALS}${revoked.id}/revoke/`, { headers: owner }, 200);
  const people: { id: string }[] = (await call('GET', PEOPLE, { headers: owner })).body;
  return {
    owner,
    console: consoleHeaders(tokenOf(session)),
    staff: await signIn('staff0'),
    partner: { 'x-api-key': partner.api_key, 'x-api-secret': partner.api_secret },
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
    channel,
    revoked: { 'x-api-key': revoked.api_key, 'x-api-secret': revoked.api_secret },
    ownIds: [partner.id, pms.id, channel.id, ...people.map(({ id }) => id)],
  };
}

/** Creates the objects of one tenant through the API. Every free-text field contains `mark`. */
export class Furnisher {
  readonly #call: Call;
  readonly #callers: Callers;
  readonly #mark: string;
  #roomTypeId = '';

  constructor(call: Call, callers: Callers, mark: string) {
    this.#call = call;
    this.#callers = callers;
    this.#mark = mark;
  }

  async furnish(): Promise<void> {
    const { staff, partner, pms, channel } = this.#callers;
    await this.#registerWebhook(partner);
    await this.#findBunk();
    for (const [index, externalId] of EXTERNAL_IDS.entries()) {
      await this.#placeOrder(externalId, ORDER_STATUSES[index]);
      await this.#bookStay(externalId, STAY_STATUSES[index]);
    }
    const stay = { external_id: 'ota', status: 'confirmed', guest: { full_name: this.#mark } };
    const nights = { room_type_id: this.#roomTypeId, check_in: dayAhead(5), check_out: dayAhead(7) };
    const body = JSON.stringify({ ...stay, ...nights });
    await made(this.#call, RECEIVER, { headers: channelHeaders(channel, body), body });
    for (const property of await this.#seen(PROPERTIES, pms)) {
      await this.#seen(`${PROPERTIES}${property.id}/room-types/`, pms);
    }
    await this.#seen(MENU, partner);
    await this.#seen(STAFF_RESERVATIONS, staff);
    await this.#seen('/v1/staff/webhook-deliveries/', staff);
    await this.restock();
  }

  /**
   * Creates new objects, because earlier cases may have revoked, disabled, removed, cancelled or completed all existing ones.
   * @param path path template of an operation. If given, creates only objects whose id is a parameter of this path
   */
  async restock(path?: string): Promise<void> {
    const { owner } = this.#callers;
    const makers = Object.entries(this.#makers()).filter(([step]) => path?.includes(`/${step}/{`) ?? true);
    if (makers.length === 0) {
      return;
    }
    // Earlier cases may have closed the restaurant, which then refuses orders.
    for (const [method, where, json] of [
      ['DELETE', '/v1/staff/pause/', undefined],
      ['PUT', '/v1/staff/opening-hours/', { hours: [] }],
    ] as const) {
      const { status, text } = await this.#call(method, where, { headers: owner, json });
      assert.equal(status, 200, text);
    }
    await this.#findBunk();
    const stock = Array.from({ length: STOCK }, () => makers.flatMap(([, all]) => all)).flat();
    await Promise.all(stock.map((make) => make()));
    await this.#seen(PEOPLE, owner);
  }

  /** Functions that create the objects whose ids occur in URL paths, keyed by the path segment before the id. */
  #makers(): Record<string, (() => Promise<unknown>)[]> {
    const mark = this.#mark;
    const create = (path: string, json: object) => made(this.#call, path, { headers: this.#callers.owner, json });
    const makeWebhook = async () => {
      const { api_key, api_secret } = await create(CREDENTIALS, { label: mark });
      await this.#registerWebhook({ 'x-api-key': api_key, 'x-api-secret': api_secret });
    };
    return {
      credentials: [
        () => create(CREDENTIALS, { label: mark }),
        makeWebhook,
        () => create(PMS_CREDENTIALS, { label: mark }),
      ],
      channels: [() => create(CHANNELS, { source: mark })],
      people: [() => create(PEOPLE, { email: newEmail(), name: mark, role: 'staff' })],
      displays: [() => create('/v1/staff/displays/', { label: mark, areas: [] })],
      orders: [() => this.#placeOrder(randomUUID())],
      reservations: [() => this.#bookStay(randomUUID()), () => this.#bookForHouse()],
    };
  }

  /** No process listens on the port of the webhook URL. */
  async #registerWebhook(headers: Headers): Promise<void> {
    const json = { webhook_url: `https://127.0.0.1:9/${this.#mark}` };
    await made(this.#call, '/v1/third-party/webhook/', { headers, json }, 200);
  }

  /** Finds the room type Bunk. It has no rate plans, through which a case could stop its sale, so it can always be booked. */
  async #findBunk(): Promise<void> {
    const roomTypes: { room_type_id: string; name: string }[] = await this.#seen(ROOMS, this.#callers.partner);
    this.#roomTypeId = roomTypes.find(({ name }) => name.endsWith('Bunk'))?.room_type_id ?? '';
  }

  async #placeOrder(externalId: string, status?: string): Promise<void> {
    const items = [{ item_id: 'PIZZA-1', quantity: 1 }];
    const json = { external_order_id: externalId, items, customer: { name: this.#mark }, notes: this.#mark };
    const { order_id } = await made(this.#call, ORDERS, { headers: this.#callers.partner, json });
    await this.#setStatus(`${STAFF_ORDERS}${order_id}/status/`, status);
  }

  async #bookStay(externalId: string, status?: string): Promise<void> {
    const json = {
      external_reservation_id: externalId,
      room_type_id: this.#roomTypeId,
      check_in: dayAhead(5),
      check_out: dayAhead(8),
      guest: { name: this.#mark, phone: '+351 912' },
    };
    const { reservation_id } = await made(this.#call, RESERVATIONS, { headers: this.#callers.partner, json });
    await this.#setStatus(`${STAFF_RESERVATIONS}${reservation_id}/status/`, status);
  }

  /** Staff may change the details only of stays that the hotel itself booked. */
  async #bookForHouse(): Promise<void> {
    const nights = { room_type_id: this.#roomTypeId, check_in: dayAhead(300), check_out: dayAhead(303) };
    const json = { ...nights, overbook: true, request_id: randomUUID(), guest: { name: this.#mark } };
    await made(this.#call, STAFF_RESERVATIONS, { headers: this.#callers.staff, json });
  }

  async #setStatus(path: string, status: string | undefined): Promise<void> {
    if (status !== undefined) {
      await made(this.#call, path, { headers: this.#callers.staff, json: { status } }, 200);
    }
  }

  async #seen(path: string, headers: Headers): Promise<Answer['body']> {
    const answer = await this.#call('GET', path, { headers });
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body;
  }
}

async function made(call: Call, path: string, options: CallOptions, status = 201): Promise<Answer['body']> {
  const answer = await call('POST', path, options);
  assert.equal(answer.status, status, `${path}: ${answer.text}`);
  return answer.body;
}
