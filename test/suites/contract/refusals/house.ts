import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { makeChannel } from '../../../support/channel.ts';
import { book, bookForHouse, dayAhead, openHotel, type TestHotel } from '../../../support/hotel.ts';
import { invite } from '../../../support/people.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openDisplay, openSession, personId } from '../../../support/sessions.ts';
import { OWNER_PASSWORD, sampleHotel, sampleMenu, STAFF_PASSWORD } from '../../../support/tenants.ts';
import { causeEvent, listDeliveries, placeOrder, register } from '../../../support/webhooks.ts';
import type { Known } from './bodies.ts';
import type { Feature } from '#access/tenants/tenants.ts';
import { AREAS } from './rights.ts';

/** Address of a webhook on which nobody listens. */
const WEBHOOK = 'https://127.0.0.1:9/hook';

/** Returns the SKU of a dish that only this tenant has. */
function skuOf(slug: string): string {
  return `OF-${slug}`;
}

/** Returns the SKU of a dish whose changes are accepted, so nobody orders it. */
function changingSkuOf(slug: string): string {
  return `CHANGING-${slug}`;
}

function dishOf(sku: string) {
  return { sku, name: 'Soup', price: '1.00', category: 'Pizza' };
}

export interface House extends TestHotel {
  propertyId: string;
  ownerId: string;
}

/** Starts the service. Sign-ins are limited for each client address, so each call may name its own. */
export async function startContractService(): Promise<TestService> {
  return await startService({ config: { rateLimitPerMinute: 1_000_000, trustedProxies: ['127.0.0.1'] } });
}

/** Makes a tenant with the features. It has an owner, one member of staff for each area, and one without areas. */
export async function openHouse(service: TestService, slug: string, features: Feature[]): Promise<House> {
  const { dishes, ...menu } = sampleMenu();
  const staff = [...AREAS.map((area) => ({ name: area, areas: [area] })), { name: 'nothing', areas: [] }];
  const hotel = await openHotel(service, {
    slug,
    features,
    users: [
      { email: `owner@${slug}.example`, password: OWNER_PASSWORD, role: 'owner' },
      ...staff.map(({ name, areas }) => ({
        email: `${name}@${slug}.example`,
        password: STAFF_PASSWORD,
        role: 'staff' as const,
        areas,
      })),
    ],
    menu: { ...menu, dishes: [...dishes, dishOf(skuOf(slug)), dishOf(changingSkuOf(slug))] },
    properties: sampleHotel().map((property) => ({
      ...property,
      room_types: (property.room_types ?? []).map((roomType) => ({ ...roomType, physical_capacity: 2_000 })),
    })),
  });
  const { id } = await service.database.db
    .selectFrom('property')
    .select('id')
    .where('tenant_id', '=', hotel.tenantId)
    .where('position', '=', 0)
    .executeTakeFirstOrThrow();
  return { ...hotel, propertyId: id, ownerId: await personId(service, hotel.tenantId, 'owner') };
}

/** Returns values for the fields and parameters that name something of the tenant, or that must differ in each call. */
export function knownOf(hotel: House): Known {
  const roomType = () => hotel.roomTypes['Double'];
  return {
    room_type_id: roomType,
    rate_plan_id: () => hotel.plans['Double/Flexible'],
    property_id: () => hotel.propertyId,
    credential_id: () => hotel.credential.id,
    person_id: () => hotel.ownerId,
    actor_id: () => hotel.ownerId,
    skus: () => skuOf(hotel.document.slug),
    item_id: () => skuOf(hotel.document.slug),
    category: () => 'Pizza',
    check_in: () => dayAhead(30),
    check_out: () => dayAhead(32),
    date: () => dayAhead(60),
    from: () => dayAhead(3),
    to: () => dayAhead(9),
    external_order_id: randomUUID,
    external_reservation_id: randomUUID,
    external_id: randomUUID,
    request_id: randomUUID,
    email: () => `${randomUUID()}@contract.example`,
    webhook_url: () => WEBHOOK,
    status: () => 'confirmed',
  };
}

type Make = (service: TestService, hotel: House) => Promise<string> | string;

/** Makes the object whose id a path parameter takes, by the name of the parameter or by the part of the path before it. */
const MAKERS: Record<string, Make> = {
  'order_id}': async (service, { partner }) => (await placeOrder(service, partner)).orderId,
  'external_order_id}': async (service, { partner }) => (await placeOrder(service, partner)).externalId,
  'external_reservation_id}': async (service, hotel) => {
    const externalId = randomUUID();
    assert.equal((await book(service, hotel, { external_reservation_id: externalId })).status, 201);
    return externalId;
  },
  'booking_id}': async (service, hotel) => (await book(service, hotel)).body.reservation_id,
  'property_id}': (_service, { propertyId }) => propertyId,
  'sku}': (_service, { document }) => changingSkuOf(document.slug),
  'room_type_id}': (_service, { roomTypes }) => roomTypes['Double'] ?? '',
  'date}': () => dayAhead(30),
  'staff/reservations/{': async (service, hotel) =>
    (await bookForHouse(service, { ...hotel, staff: hotel.owner })).body.reservation_id,
  'third-party/credentials/{': makeCredential,
  'staff/credentials/{': makeCredential,
  'webhook-deliveries/{': async (service, hotel) => {
    await register(service, hotel.partner, WEBHOOK);
    await causeEvent(service, { ...hotel, staff: hotel.owner });
    const [delivery] = await listDeliveries(service, { ...hotel, staff: hotel.owner });
    return delivery?.id ?? assert.fail();
  },
  'channel-manager/credentials/{': async (service, { owner }) => {
    const made = await service.call('POST', '/v1/channel-manager/credentials/', { headers: owner });
    return made.body.id;
  },
  'channels/{': async (service, hotel) => (await makeChannel(service, hotel)).id,
  'sessions/{': async (service, { tenantId }) => (await openSession(service, tenantId, 'staff')).id,
  'rate-plans/{': (_service, { plans }) => plans['Suite/Suite rate'] ?? '',
  'room-types/{': (_service, { roomTypes }) => roomTypes['Suite'] ?? '',
  'people/{': async (service, hotel) => (await invite(service, hotel)).body.person.id,
  'displays/{': async (service, { tenantId }) => (await openDisplay(service, tenantId, [])).displayId,
};

async function makeCredential(service: TestService, { tenantId }: House): Promise<string> {
  const { credential, partner } = await service.credential(tenantId);
  await register(service, partner, WEBHOOK);
  return credential.id;
}

/** Makes an object of the tenant for each parameter of the path. Returns the values of the parameters, by name. */
export async function pathValues(service: TestService, hotel: House, path: string): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const { 1: name = '', index } of path.matchAll(/\{(\w+)\}/g)) {
    const make =
      MAKERS[`${name}}`] ?? Object.entries(MAKERS).find(([before]) => path.slice(0, index + 1).endsWith(before))?.[1];
    assert.ok(make, `MAKERS has an entry for the parameter "${name}" of ${path}`);
    values[name] = await make(service, hotel);
  }
  return values;
}

/** Opens the restaurant again, because a closed restaurant refuses orders. */
export async function reopen(service: TestService, { owner: headers }: House): Promise<void> {
  await service.call('DELETE', '/v1/staff/pause/', { headers });
  await service.call('PUT', '/v1/staff/opening-hours/', { headers, json: { hours: [] } });
}

/** Columns that tell when somebody was last seen. A refused call may change them. */
const SEEN = ['last_used_at', 'last_use_written_at', 'last_seen_at'];
/** Tables that record refused calls. */
const OF_REFUSALS = ['refused_call'];

/** Returns a function that returns a fingerprint of the rows of each table. */
export async function rowReader({ database: { db } }: TestService): Promise<() => Promise<Record<string, string>>> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`.execute(db);
  const prints = tables
    .filter(({ name }) => !OF_REFUSALS.includes(name))
    .map(
      ({ name }) => sql`
        SELECT ${sql.lit(name)} AS name, md5(string_agg(row, '' ORDER BY row)) AS print
        FROM (SELECT (to_jsonb(t) - ${sql.val(SEEN)}::text[])::text AS row FROM ${sql.table(name)} AS t) AS rows`,
    );
  const statement = sql<{ name: string; print: string }>`${sql.join(prints, sql` UNION ALL `)}`;
  return async () => {
    const { rows } = await statement.execute(db);
    return Object.fromEntries(rows.map(({ name, print }) => [name, print]));
  };
}
