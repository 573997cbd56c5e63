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

const DEMO = readFileSync(join(import.meta.dirname, '../../examples/demo/tenant.json'), 'utf8');

/** Pattern of the SKUs of the dishes in examples/demo/tenant.json that tests need. */
const IS_NEEDED = /^SANDBOX-|^STARTERS-PAPADOM$/;

/** Makes a tenant with the hotel of demo/tenant.json and the dishes of its menu that tests need. */
export async function openDemo(service: TestService, changes: Partial<TenantDocument> = {}): Promise<TestHotel> {
  const { menu, properties } = JSON.parse(DEMO) as Required<Pick<TenantDocument, 'menu' | 'properties'>>;
  const dishes = menu.dishes.filter(({ sku }) => IS_NEEDED.test(sku));
  return await openHotel(service, { menu: { ...menu, dishes }, properties, ...changes });
}

interface SandboxSetting {
  /** Connections to the database. By default, they are those of the service. */
  db?: Database;
  onLog?: (line: string) => void;
}

/** Simulates the staff until the test ends, as `serve --demo --only worker` does. @param speed multiple of real time */
export function startSandboxWorker(
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

export async function eventsOfSubject(
  service: TestService,
  { partner }: Pick<TestTenant, 'partner'>,
  externalId: string,
): Promise<ListedEvent[]> {
  const { all } = await readToEnd(service, partner, '', 200);
  return all.filter(({ data }) => [data['external_order_id'], data['external_reservation_id']].includes(externalId));
}

/** Reads the statuses that the events in the feed report for an order or a reservation, oldest first. */
export async function reportedStatuses(
  service: TestService,
  tenant: Pick<TestTenant, 'partner'>,
  externalId: string,
): Promise<(string | undefined)[]> {
  return (await eventsOfSubject(service, tenant, externalId)).map(({ data }) => data['status']);
}
