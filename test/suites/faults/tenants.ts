import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestChannel } from '../../support/channel.ts';
import { type CommandOptions, runCommand } from '../../support/command.ts';
import { call } from '../../support/service.ts';
import { OWNER_PASSWORD, sampleTenant, STAFF_PASSWORD } from '../../support/tenants.ts';

/** Random text that every free-text field of one tenant contains. The suite finds leaks of the tenant's data by this text. */
export type Marker = string;

export interface Tenant {
  id: number;
  marker: Marker;
  owner: Record<string, string>;
  staff: Record<string, string>;
  channel: TestChannel;
  /**
   * Room types by name. Partners book all room types. Booking sites (OTAs) book only Lofts. The service accepts a reservation of an OTA
   * even if no room is free, so more Lofts may be booked than exist.
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
  headers: Record<string, string>;
  webhookUrl: string;
  webhookSecret: string;
}

interface Applied {
  tenant_id: number;
  properties: { room_types: { id: string; name: string }[] }[];
}

/** Creates a tenant with the command `roomservice tenant apply`, and signs its users in. */
export async function makeTenant(url: string, command: CommandOptions, folder: string): Promise<Tenant> {
  const marker = `mk${randomBytes(5).toString('hex')}`;
  const document = sampleTenant({
    slug: `house-${marker}`,
    name: `House ${marker}`,
    features: ['restaurant', 'hotel'],
  });
  const names = Object.keys(CAPACITIES) as RoomName[];
  const file = join(folder, `${marker}.json`);
  const dishes = document.menu?.dishes.map((dish) => ({ ...dish, description: `of ${marker}` })) ?? [];
  const roomTypes = names.map((name) => ({
    name: `${name} ${marker}`,
    max_occupancy: 2,
    base_price: '80.00',
    physical_capacity: CAPACITIES[name],
    rate_plans: [{ name: 'Flexible', base_price: '90.00' }],
  }));
  const property = { name: `Hotel ${marker}`, country_code: 'PT', timezone: 'Europe/Lisbon', room_types: roomTypes };
  await writeFile(file, JSON.stringify({ ...document, menu: { ...document.menu, dishes }, properties: [property] }));
  const ended = await runCommand(['tenant', 'apply', file, '--json'], command);
  assert.equal(ended.code, 0, ended.stderr);
  const applied = JSON.parse(ended.stdout) as Applied;
  const found = applied.properties.flatMap((each) => each.room_types);
  const room = (name: RoomName) => {
    const id = found.find((each) => each.name === `${name} ${marker}`)?.id ?? '';
    return { id, capacity: CAPACITIES[name] };
  };
  const owner = await signIn(url, `owner@${document.slug}.example`, OWNER_PASSWORD);
  const staff = await signIn(url, `staff@${document.slug}.example`, STAFF_PASSWORD);
  const channel = await call(url, 'POST', '/v1/channel-manager/channels/', {
    headers: owner,
    json: { source: `ota ${marker}` },
  });
  assert.equal(channel.status, 201, channel.text);
  const rooms = { Cabin: room('Cabin'), Loft: room('Loft'), Hall: room('Hall') };
  return { id: applied.tenant_id, marker, owner, staff, channel: channel.body, rooms };
}

async function signIn(url: string, email: string, password: string): Promise<Record<string, string>> {
  const answer = await call(url, 'POST', '/v1/auth/token/', { json: { email, password } });
  assert.equal(answer.status, 200, answer.text);
  return { authorization: `Bearer ${answer.body.access_token}` };
}

/** Creates a credential of the tenant, and registers the webhook URL with this credential. */
export async function makePartner(url: string, tenant: Tenant, webhookUrl: string): Promise<Partner> {
  const made = await call(url, 'POST', '/v1/third-party/credentials/', {
    headers: tenant.owner,
    json: { label: `partner of ${tenant.marker}` },
  });
  assert.equal(made.status, 201, made.text);
  const headers = { 'x-api-key': made.body.api_key, 'x-api-secret': made.body.api_secret };
  const registered = await call(url, 'POST', '/v1/third-party/webhook/', {
    headers,
    json: { webhook_url: webhookUrl },
  });
  assert.equal(registered.status, 200, registered.text);
  return { tenant, credentialId: made.body.id, headers, webhookUrl, webhookSecret: registered.body.webhook_secret };
}
