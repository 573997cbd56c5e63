import assert from 'node:assert/strict';
import { after } from 'node:test';
import { sql } from 'kysely';
import { type BudgetStore, createMemoryBudgets } from '#platform/http/rate-limit.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { openHotel, type TestHotel } from './hotel.ts';
import { startService, type TestService, type TestTenant } from './service.ts';

/** Budgets that the files would use up together, because all their calls come from one address, or because they make many calls. */
const RAISED = ['third-party', 'pms', 'sign-in-address', 'link-address', 'pairing-address'];

let shared: Promise<TestService> | undefined;
let isKeptOpen = false;

/**
 * Returns the service that all test files of this process share, with one database. The first call starts it. A test file calls this
 * function, `useRestaurant` or `useHotel` once, before its tests. A test makes a tenant of its own if it needs data that other tests do not
 * have. Use `startService` in place of the shared service in a file that
 * - sets options of the service
 * - stops or breaks the service or the database
 * - needs a database without data of other files, for example because it runs a worker or looks at query plans.
 */
export async function useService(): Promise<TestService> {
  shared ??= startService({ budgets: raisedBudgets() });
  const service = await shared;
  after(() => (isKeptOpen ? assertUsable(service) : closeSharedService()));
  const { rows } = await sql<{ id: number }>`SELECT coalesce(max(id), 0) + 1 AS id FROM tenant`.execute(
    service.database.db,
  );
  const close = () =>
    Promise.reject(new Error('A test file must not close the service that it shares with other files.'));
  return Object.freeze({ ...service, firstTenantId: rows[0]?.id ?? 0, close });
}

/** Returns the shared service (`useService`) and a new tenant of the test file. `changes` replaces fields of its tenant document. */
export async function useRestaurant(
  changes?: Partial<TenantDocument>,
): Promise<{ service: TestService; tenant: TestTenant }> {
  const service = await useService();
  return { service, tenant: await service.tenant(changes) };
}

/** Returns the shared service (`useService`) and a new tenant of the test file that has a hotel, as `openHotel` makes it. */
export async function useHotel(changes?: Partial<TenantDocument>): Promise<{ service: TestService; hotel: TestHotel }> {
  const service = await useService();
  return { service, hotel: await openHotel(service, changes) };
}

/** Keeps the shared service open after each test file of this process. The caller closes it with `closeSharedService`. */
export function keepSharedService(): void {
  isKeptOpen = true;
}

export async function closeSharedService(): Promise<void> {
  const closing = shared;
  shared = undefined;
  await (await closing)?.close();
}

/** Fails if a file leaves the service broken, or has caused a statement that a cluster cannot route. The next file gets a new service. */
async function assertUsable(service: TestService): Promise<void> {
  try {
    await service.assertRoutable();
    await sql`SELECT`.execute(service.database.db);
    const { status, text } = await service.call('GET', '/readyz');
    assert.equal(status, 200, `The test file leaves the shared service broken: ${text}`);
  } catch (error) {
    await closeSharedService().catch(() => {});
    throw error;
  }
}

function raisedBudgets(): BudgetStore {
  const budgets = createMemoryBudgets();
  return { ...budgets, budget: (name, limit) => budgets.budget(name, RAISED.includes(name) ? 1_000_000_000 : limit) };
}
