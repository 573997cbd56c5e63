import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Dish, MenuDocument } from '#restaurant/menu/schema.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';
import { entriesOf } from './lists.ts';

export const MENU = '/v1/third-party/menu/';
export const ORDERS = '/v1/third-party/orders/';
export const STAFF_MENU = '/v1/staff/menu/';
export const STAFF_ORDERS = '/v1/staff/orders/';

export async function listDishes(service: TestService, tenant: Pick<TestTenant, 'partner'>): Promise<Dish[]> {
  const answer = await service.call('GET', MENU, { headers: tenant.partner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function dishOf(service: TestService, tenant: Pick<TestTenant, 'partner'>, sku: string): Promise<Dish> {
  const dish = (await listDishes(service, tenant)).find((each) => each.sku === sku);
  assert.ok(dish, `${sku} is not on the menu`);
  return dish;
}

export async function readStaffMenu(
  service: TestService,
  tenant: Pick<TestTenant, 'staff'>,
): Promise<{ etag: string; menu: Required<MenuDocument> }> {
  const { status, text, headers, body } = await service.call('GET', STAFF_MENU, { headers: tenant.staff });
  assert.equal(status, 200, text);
  return { etag: headers.get('etag') ?? '', menu: body };
}

export function orderPath(externalOrderId: string, action = ''): string {
  return `${ORDERS}${encodeURIComponent(externalOrderId)}/${action}`;
}

export async function auditOf(
  service: TestService,
  tenant: Pick<TestTenant, 'owner'>,
  action: string,
): Promise<{ subject: string; details: unknown }[]> {
  const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
  const entries = body as { action: string; subject: string; details: unknown }[];
  return entries.filter((entry) => entry.action === action).map(({ subject, details }) => ({ subject, details }));
}

let placed = 0;

export function place(
  service: TestService,
  tenant: Pick<TestTenant, 'partner'>,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  placed += 1;
  const json = { external_order_id: `order ${placed}`, items: [{ item_id: 'PIZZA-1', quantity: 1 }], ...changes };
  return service.call('POST', ORDERS, { headers: tenant.partner, json });
}

export function setOrderStatus(
  service: TestService,
  tenant: TestTenant,
  orderId: string,
  status: string,
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const json = { status, ...more };
  return service.call('POST', `${STAFF_ORDERS}${orderId}/status/`, { headers: tenant.staff, json });
}

/** Tables of which the service may write the last use of a row at any time after a call. */
const USED = ['app_user', 'credential', 'session'];

/**
 * Reads the rows of this file's tenants, with the transactions that wrote them. If two dumps are equal, nothing was written but last uses.
 */
export async function dumpRows(service: TestService, ...tables: string[]): Promise<string[]> {
  const db: Kysely<never> = service.database.db as unknown as Kysely<never>;
  const dumps = tables.map(async (table) => {
    const content = USED.includes(table)
      ? sql`to_jsonb(t) - '{last_seen_at,last_used_at,last_use_written_at}'::text[]`
      : sql`t.xmin || ' ' || t::text`;
    const { rows } = await sql<{ row: string }>`
      SELECT ${sql.lit(table)} || ' ' || (${content})::text AS row FROM ${sql.table(table)} AS t
      WHERE ${sql.ref(table === 'tenant' ? 'id' : 'tenant_id')} >= ${service.firstTenantId} ORDER BY 1
    `.execute(db);
    return rows.map(({ row }) => row);
  });
  return (await Promise.all(dumps)).flat();
}

/** Fails if a read that began a second after this call does not see the change (rule 11). The machine may be slow. */
export async function within1s(isVisible: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 1_000;
  for (;;) {
    const isLate = performance.now() > deadlineMs;
    if (await isVisible()) {
      return;
    }
    assert.ok(!isLate, 'the change was not visible within a second');
    await sleep(20);
  }
}
