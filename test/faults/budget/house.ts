import { randomBytes } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { CHANNELS } from '../../support/channel.ts';
import { MENU } from '../../support/restaurant.ts';
import { type Answer, callUnchecked } from '../../support/http.ts';
import { OWNER_PASSWORD, sampleHotel, sampleMenu, sampleTenant, STAFF_PASSWORD } from '../../support/tenants.ts';
import { Pools } from '../../fuzz/pools.ts';
import { collectionOf } from '../../fuzz/world.ts';
import type { Keys, Who } from './call.ts';

const CAPACITY = 2_000;
const DISHES = 1_000;
const ADDONS_OF_A_DISH = 14;
/** Number of concurrent calls while a tenant is filled with data. */
const CONCURRENT_CALLS = 8;

/** A dish with the fields that an order needs. */
export interface Sold {
  sku: string;
  addons: { id: string }[];
}

/** Tenant of a test case, with its credentials and the ids of its data. */
export interface BudgetTenant {
  slug: string;
  keys: Keys;
  /** Second set of credentials of the tenant, for the calls that are sent one by one before the measurement. */
  spareKeys: Keys;
  /** Id of the room type that the cases book. */
  roomTypeId: string;
  planId: string;
  /** Dishes of the menu. */
  dishes: Sold[];
  /** Ids from all responses to `call`. Later calls use these ids. */
  pools: Pools;
  /** Makes a call to a process that is not measured, to prepare data. */
  call: (who: Exclude<Who, 'channel'>, method: string, path: string, json?: unknown) => Promise<Answer>;
}

/**
 * Creates a tenant with a hotel and a menu.
 * @param url the URL of a process that is not measured and has unlimited budgets
 */
export async function openTenant(db: Database, url: string, menu: MenuDocument): Promise<BudgetTenant> {
  const document = documentOf(menu);
  await applyTenantDocument(db, document);
  const { slug } = document;
  const owner = await signIn(url, `owner@${slug}.example`, OWNER_PASSWORD);
  const staff = await signIn(url, `staff@${slug}.example`, STAFF_PASSWORD);
  const makeKeys = async () => await issueKeys(url, owner, staff);
  const keys = await makeKeys();
  const pools = new Pools();
  const call: BudgetTenant['call'] = async (who, method, path, json) => {
    const options = { headers: keys.headers[who], ...(json === undefined ? {} : { json }) };
    const answer = await callUnchecked(url, method, path, options);
    pools.learn(answer.body, collectionOf(path.split('?', 1)[0] ?? ''));
    return answer;
  };
  const spareKeys = await makeKeys();
  const ids = await learnIds(call);
  pools.add('email', `owner@${slug}.example`);
  pools.add('password', OWNER_PASSWORD);
  return { slug, keys, spareKeys, ...ids, pools, call };
}

function documentOf(menu: MenuDocument): TenantDocument {
  const properties = sampleHotel().map((property) => ({
    ...property,
    room_types: (property.room_types ?? []).map((roomType) => ({ ...roomType, physical_capacity: CAPACITY })),
  }));
  const slug = `house-${randomBytes(4).toString('hex')}`;
  return sampleTenant({ slug, features: ['restaurant', 'hotel'], menu, properties });
}

async function learnIds(call: BudgetTenant['call']) {
  const menu = await expect(call('partner', 'GET', MENU), 200);
  const properties = await expect(call('pms', 'GET', '/v1/channel-manager/pms/properties/'), 200);
  const path = `/v1/channel-manager/pms/properties/${properties[0].id}/room-types/`;
  const roomTypes: { id: string; name: string; rate_plans: { id: string }[] }[] = await expect(
    call('pms', 'GET', path),
    200,
  );
  const double = roomTypes.find(({ name }) => name === 'Double');
  return { dishes: menu as Sold[], roomTypeId: double?.id ?? '', planId: double?.rate_plans[0]?.id ?? '' };
}

/**
 * Creates a credential for a partner, a credential for a PMS, and a channel. Returns them together with the given headers of the owner and
 * the staff.
 */
async function issueKeys(url: string, owner: Headers, staff: Headers): Promise<Keys> {
  const create = async (path: string, json: object) =>
    await expect(callUnchecked(url, 'POST', path, { headers: owner, json }), 201);
  const partner = await create('/v1/third-party/credentials/', { label: 'a platform' });
  const pms = await create('/v1/channel-manager/credentials/', { label: 'a PMS' });
  const channel = await create(CHANNELS, { source: `ota ${randomBytes(4).toString('hex')}` });
  return {
    headers: {
      owner,
      staff,
      partner: { 'x-api-key': partner.api_key, 'x-api-secret': partner.api_secret },
      pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
      anonymous: {},
    },
    channel,
  };
}

type Headers = Record<string, string>;

async function signIn(url: string, email: string, password: string): Promise<Headers> {
  const signedIn = callUnchecked(url, 'POST', '/v1/auth/token/', { json: { email, password } });
  return { authorization: `Bearer ${(await expect(signedIn, 200)).access_token}` };
}

/**
 * Waits for a response and returns its body.
 * @throws Error if the status is not the expected one
 */
export async function expect(answering: Promise<Answer>, status: number): Promise<Answer['body']> {
  const answer = await answering;
  if (answer.status !== status) {
    throw new Error(
      `The expected status is ${status}, but the response is ${answer.status} ${answer.text.slice(0, 300)}`,
    );
  }
  return answer.body;
}

/** Runs `work` the given number of times, up to 8 runs concurrently. */
export async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const runNext = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, runNext));
}

/**
 * Creates more credentials of a tenant. The neighbour (the tenant that makes the usual calls) needs several credentials, because it makes
 * more calls than the budget of one credential allows.
 */
export async function moreKeys(url: string, { keys }: BudgetTenant, count: number): Promise<Keys[]> {
  const { owner, staff } = keys.headers;
  return await Promise.all(Array.from({ length: count }, () => issueKeys(url, owner, staff)));
}

/** Returns an ordinary small menu. */
export const smallMenu: () => MenuDocument = sampleMenu;

/** Returns a long menu of dishes with add-ons. By default, its JSON is nearly 1 MiB. */
export function longMenu(dishes = DISHES, addons = ADDONS_OF_A_DISH): MenuDocument {
  return {
    categories: [{ name: 'Pizza' }],
    dishes: Array.from({ length: dishes }, (_, index) => ({
      sku: `DISH-${index}`,
      name: `Dish ${index}`,
      price: '9.00',
      category: 'Pizza',
      addons: Array.from({ length: addons }, (__, addon) => ({ name: `Add-on number ${addon}`, price: '0.50' })),
    })),
  };
}
