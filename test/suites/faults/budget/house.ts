import { randomBytes } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { mapConcurrently } from '../../../../bench/calls.ts';
import type { Answer } from '../../../support/http.ts';
import { MENU } from '../../../support/restaurant.ts';
import { OWNER_PASSWORD, sampleHotel, sampleTenant } from '../../../support/tenants.ts';
import { type Headers, issueCredential, send, signIn } from '../tenants.ts';
import type { Who } from './call.ts';

const CAPACITY = 2_000;
const CONCURRENT_CALLS = 16;

interface Sold {
  sku: string;
  addons: { id: string }[];
}

export interface BudgetTenant {
  keys: Record<Who, Headers>;
  /** Id of the room type that the cases book, and of one of its rate plans. */
  roomTypeId: string;
  planId: string;
  dishes: Sold[];
  /** Makes a call to the control process, to prepare data. Throws if the status is not 2xx. */
  call: (who: Who, method: string, path: string, json?: unknown) => Promise<Answer['body']>;
  issuePartner: () => Promise<Headers>;
}

/**
 * Creates a tenant with a hotel and a menu.
 * @param url the URL of the control process, which has unlimited budgets
 */
export async function openTenant(db: Database, url: string, menu: MenuDocument): Promise<BudgetTenant> {
  const slug = `house-${randomBytes(4).toString('hex')}`;
  const properties = sampleHotel().map((property) => ({
    ...property,
    room_types: (property.room_types ?? []).map((roomType) => ({ ...roomType, physical_capacity: CAPACITY })),
  }));
  const document = sampleTenant({ slug, features: ['restaurant', 'hotel'], menu, properties });
  const applied = await applyTenantDocument(db, document);
  const owner = await signIn(url, `owner@${slug}.example`, OWNER_PASSWORD);
  const issuePartner = async () => (await issueCredential(url, owner)).headers;
  const label = { headers: owner, json: { label: 'a PMS' } };
  const pms = await send(url, 'POST', '/v1/channel-manager/credentials/', label);
  const keys = {
    partner: await issuePartner(),
    secondPartner: await issuePartner(),
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
    owner,
    anonymous: {},
  };
  const call: BudgetTenant['call'] = async (who, method, path, json) =>
    await send(url, method, path, { headers: keys[who], ...(json === undefined ? {} : { json }) });
  const dishes: Sold[] = await call('partner', 'GET', MENU);
  const double = applied.properties[0]?.room_types.find(({ name }) => name === 'Double');
  return { keys, dishes, roomTypeId: double?.id ?? '', planId: double?.rate_plans[0]?.id ?? '', call, issuePartner };
}

export async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  await mapConcurrently([...Array(count).keys()], CONCURRENT_CALLS, work);
}
