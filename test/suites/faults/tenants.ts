import { randomBytes } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { CHANNELS, type TestChannel } from '../../support/channel.ts';
import { type Answer, callUnchecked } from '../../support/http.ts';
import { OWNER_PASSWORD, sampleTenant, STAFF_PASSWORD } from '../../support/tenants.ts';

export type Headers = Record<string, string>;

export interface Tenant {
  id: number;
  /** Random text that every free-text field of the tenant contains. The suite finds leaks of the tenant's data by this text. */
  marker: string;
  owner: Headers;
  staff: Headers;
  channel: TestChannel;
  /**
   * Room types by name. Partners book all of them. Booking sites (OTAs) book only Lofts. The service accepts a reservation of an OTA even if
   * no room is free, so more Lofts may be booked than exist.
   */
  rooms: Record<RoomName, { id: string; capacity: number }>;
}

export type RoomName = 'Cabin' | 'Loft' | 'Hall';
const CAPACITIES: Record<RoomName, number> = { Cabin: 3, Loft: 2, Hall: 3 };
export const PARTNER_ONLY_ROOMS: readonly RoomName[] = ['Cabin', 'Hall'];

/** A credential of a partner, with its registered webhook. */
export interface Partner {
  tenant: Tenant;
  credentialId: string;
  headers: Headers;
  webhookUrl: string;
  webhookSecret: string;
}

/** Makes a call and returns the body of its response. Throws if the status is not 2xx. */
export async function send(...[url, method, path, options]: Parameters<typeof callUnchecked>): Promise<Answer['body']> {
  const { status, text, body } = await callUnchecked(url, method, path, options);
  if (status >= 300) {
    throw new Error(`${method} ${path} got ${status} ${text.slice(0, 300)}`);
  }
  return body;
}

export async function signIn(url: string, email: string, password: string): Promise<Headers> {
  const { access_token } = await send(url, 'POST', '/v1/auth/token/', { json: { email, password } });
  return { authorization: `Bearer ${access_token}` };
}

export async function issueCredential(url: string, owner: Headers): Promise<{ id: string; headers: Headers }> {
  const { id, api_key, api_secret } = await send(url, 'POST', '/v1/third-party/credentials/', {
    headers: owner,
    json: { label: 'a partner' },
  });
  return { id, headers: { 'x-api-key': api_key, 'x-api-secret': api_secret } };
}

/** Creates a tenant, and signs its users in. */
export async function makeTenant(url: string, db: Database): Promise<Tenant> {
  const marker = `mk${randomBytes(5).toString('hex')}`;
  const slug = `house-${marker}`;
  const names = Object.keys(CAPACITIES) as RoomName[];
  const roomTypes = names.map((name) => ({
    name: `${name} ${marker}`,
    max_occupancy: 2,
    base_price: '80.00',
    physical_capacity: CAPACITIES[name],
    rate_plans: [{ name: 'Flexible', base_price: '90.00' }],
  }));
  const property = { name: `Hotel ${marker}`, country_code: 'PT', timezone: 'Europe/Lisbon', room_types: roomTypes };
  const { menu, ...document } = sampleTenant({ slug, name: `House ${marker}`, features: ['restaurant', 'hotel'] });
  const dishes = menu?.dishes.map((dish) => ({ ...dish, description: `of ${marker}` })) ?? [];
  const applied = await applyTenantDocument(db, { ...document, menu: { ...menu, dishes }, properties: [property] });
  const found = applied.properties.flatMap((each) => each.room_types);
  const room = (name: RoomName) => {
    const id = found.find((each) => each.name === `${name} ${marker}`)?.id ?? '';
    return { id, capacity: CAPACITIES[name] };
  };
  const owner = await signIn(url, `owner@${slug}.example`, OWNER_PASSWORD);
  const staff = await signIn(url, `staff@${slug}.example`, STAFF_PASSWORD);
  const channel = await send(url, 'POST', CHANNELS, { headers: owner, json: { source: `ota ${marker}` } });
  const rooms = { Cabin: room('Cabin'), Loft: room('Loft'), Hall: room('Hall') };
  return { id: applied.tenant_id, marker, owner, staff, channel, rooms };
}

export async function makePartner(url: string, tenant: Tenant, webhookUrl: string): Promise<Partner> {
  const { id: credentialId, headers } = await issueCredential(url, tenant.owner);
  const json = { webhook_url: webhookUrl };
  const { webhook_secret } = await send(url, 'POST', '/v1/third-party/webhook/', { headers, json });
  return { tenant, credentialId, headers, webhookUrl, webhookSecret: webhook_secret };
}
