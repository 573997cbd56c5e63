import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { findTenantBySlug } from '#access/tenants/tenants.ts';
import { startWorker, type Worker } from '#service/worker.ts';
import { type ListedEvent, readToEnd } from './feed.ts';
import { openHotel, type TestHotel } from './hotel.ts';
import type { TestService, TestTenant } from './service.ts';

const DEMO = readFileSync(join(import.meta.dirname, '../../demo/tenant.json'), 'utf8');

const IS_NEEDED = /^SANDBOX-|^STARTERS-PAPADOM$/;

/** A tenant that is what demo/tenant.json says, under a name of its own; of its dishes with one ordinary one. */
export async function openDemo(service: TestService): Promise<TestHotel> {
  const { menu, properties } = JSON.parse(DEMO) as Required<Pick<TenantDocument, 'menu' | 'properties'>>;
  const dishes = menu.dishes.filter(({ sku }) => IS_NEEDED.test(sku));
  return await openHotel(service, { menu: { ...menu, dishes }, properties });
}

export interface SandboxSetting {
  /** Reached in another way than the service's. */
  db?: Database;
  /** Where every log line goes. */
  onLog?: (line: string) => void;
}

/** A worker beside the service that keeps the tenant alive until the test ends, as `serve --demo --only worker` does. */
export function startHouse(
  t: TestContext,
  { database, keyring }: TestService,
  { document }: { document: Pick<TenantDocument, 'slug'> },
  speed: number,
  { db = database.db, onLog = () => {} }: SandboxSetting = {},
): Worker {
  const worker = startWorker({
    config: { ...readConfig({}), webhookAllowPrivateNetwork: true },
    db,
    keyring,
    log: pino({ level: 'trace' }, { write: onLog }),
    sandbox: { findTenant: () => findTenantBySlug(db, document.slug), speed },
  });
  t.after(() => worker.stop(0));
  return worker;
}

/** What the partner's feed tells of an order or a reservation, oldest first. */
export async function eventsAbout(
  service: TestService,
  { partner }: Pick<TestTenant, 'partner'>,
  externalId: string,
): Promise<ListedEvent[]> {
  const { all } = await readToEnd(service, partner, '', 200);
  return all.filter(({ data }) => [data['external_order_id'], data['external_reservation_id']].includes(externalId));
}

/** The statuses it has been told to have, in their order. */
export async function toldStatuses(
  service: TestService,
  tenant: Pick<TestTenant, 'partner'>,
  externalId: string,
): Promise<(string | undefined)[]> {
  return (await eventsAbout(service, tenant, externalId)).map(({ data }) => data['status']);
}
