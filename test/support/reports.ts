import assert from 'node:assert/strict';
import type { DayReport } from '#staff/reports/schema.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';

const REPORT = '/v1/staff/reports/days/';

export function report(service: TestService, tenant: TestTenant, query: string): Promise<Answer> {
  return service.call('GET', `${REPORT}?${query}`, { headers: tenant.owner });
}

export async function readDays(
  service: TestService,
  tenant: TestTenant,
  from: string,
  to: string,
): Promise<Record<string, DayReport>> {
  const { status, text, body } = await report(service, tenant, `from=${from}&to=${to}`);
  assert.equal(status, 200, text);
  return Object.fromEntries((body as DayReport[]).map((day) => [day.date, day]));
}

let inserted = 0;

export async function insertOrderAt(
  { database }: TestService,
  { tenantId, credential }: Pick<TestTenant, 'tenantId' | 'credential'>,
  time: string,
  changes: { total?: string; status?: string; credential_id?: string; currency?: string } = {},
): Promise<void> {
  inserted += 1;
  const id = firstIdAt(Date.parse(time)).slice(0, -8) + inserted.toString(16).padStart(8, '0');
  const order = {
    tenant_id: tenantId,
    id,
    credential_id: credential.id,
    external_order_id: `placed at ${time}, ${inserted}`,
    status: 'completed',
    order_type: 'delivery',
    lines: '[]',
    total: '10.00',
    currency: 'EUR',
    created_at: new Date(time),
    status_changed_at: new Date(time),
    ...changes,
  };
  await database.db.insertInto('restaurant_order').values(order).execute();
}
