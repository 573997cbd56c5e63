import { randomBytes } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { MENU } from '../../../support/restaurant.ts';
import { type Answer, callUnchecked } from '../../../support/http.ts';
import { OWNER_PASSWORD, sampleHotel, sampleTenant } from '../../../support/tenants.ts';
import type { CallHeaders, Who } from './call.ts';

const CAPACITY = 2_000;
/** Number of concurrent calls while a tenant is filled with data. */
const CONCURRENT_CALLS = 16;

/** Headers that authenticate the calls of a tenant. */
export type Keys = Record<Who, CallHeaders>;

/** A dish with the fields that an order needs. */
interface Sold {
  sku: string;
  addons: { id: string }[];
}

/** Tenant of a test case, with its credentials and the ids of its data. */
export interface BudgetTenant {
  keys: Keys;
  /** Id of the room type that the cases book, and of one of its rate plans. */
  roomTypeId: string;
  planId: string;
  /** Dishes of the menu. */
  dishes: Sold[];
  /** Makes a call to a process that is not measured, to prepare data. Throws if the status is not 2xx. */
  call: (who: Who, method: string, path: string, json?: unknown) => Promise<Answer['body']>;
  /** Creates a credential for a partner, and returns its headers. */
  issuePartner: () => Promise<CallHeaders>;
}

/**
 * Creates a tenant with a hotel and a menu.
 * @param url the URL of a process that is not measured and has unlimited budgets
 */
export async function openTenant(db: Database, url: string, menu: MenuDocument): Promise<BudgetTenant> {
  const slug = `house-${randomBytes(4).toString('hex')}`;
  const properties = sampleHotel().map((property) => ({
    ...property,
    room_types: (property.room_types ?? []).map((roomType) => ({ ...roomType, physical_capacity: CAPACITY })),
  }));
  await applyTenantDocument(db, sampleTenant({ slug, features: ['restaurant', 'hotel'], menu, properties }));
  const password = { email: `owner@${slug}.example`, password: OWNER_PASSWORD };
  const { access_token } = await send(url, 'POST', '/v1/auth/token/', { json: password });
  const owner = { authorization: `Bearer ${access_token}` };
  const issue = async (path: string) =>
    await send(url, 'POST', path, { headers: owner, json: { label: 'a busy caller' } });
  const issuePartner = async () => {
    const { api_key, api_secret } = await issue('/v1/third-party/credentials/');
    return { 'x-api-key': api_key, 'x-api-secret': api_secret };
  };
  const pms = await issue('/v1/channel-manager/credentials/');
  const keys: Keys = {
    partner: await issuePartner(),
    secondPartner: await issuePartner(),
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
    owner,
    anonymous: {},
  };
  const call: BudgetTenant['call'] = async (who, method, path, json) =>
    await send(url, method, path, { headers: keys[who], ...(json === undefined ? {} : { json }) });
  return { keys, ...(await readIds(call)), call, issuePartner };
}

async function readIds(call: BudgetTenant['call']) {
  const dishes: Sold[] = await call('partner', 'GET', MENU);
  const properties = await call('pms', 'GET', '/v1/channel-manager/pms/properties/');
  const path = `/v1/channel-manager/pms/properties/${properties[0].id}/room-types/`;
  const roomTypes: { id: string; name: string; rate_plans: { id: string }[] }[] = await call('pms', 'GET', path);
  const double = roomTypes.find(({ name }) => name === 'Double');
  return { dishes, roomTypeId: double?.id ?? '', planId: double?.rate_plans[0]?.id ?? '' };
}

/** Makes a call and returns the body of its response. Throws if the status is not 2xx. */
async function send(...[url, method, path, options]: Parameters<typeof callUnchecked>): Promise<Answer['body']> {
  const { status, text, body } = await callUnchecked(url, method, path, options);
  if (status >= 300) {
    throw new Error(`${method} ${path} got ${status} ${text.slice(0, 300)}`);
  }
  return body;
}

/** Runs `work` the given number of times, up to 16 runs concurrently. */
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
