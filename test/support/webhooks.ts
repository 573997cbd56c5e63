import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf } from './lists.ts';
import type { ReceivedRequest } from './receiver.ts';
import type { TestService, TestTenant } from './service.ts';

export interface ListedDelivery {
  id: string;
  event: string;
  event_id: string;
  status: string;
  attempts: { at: string; http_status: number | null; duration_ms: number | null; error: string | null }[];
  created_at: string;
}

export async function register(service: TestService, partner: Record<string, string>, url: string): Promise<string> {
  const answer = await service.call('POST', '/v1/third-party/webhook/', {
    headers: partner,
    json: { webhook_url: url },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.webhook_secret;
}

export async function placeOrder(
  service: TestService,
  partner: Record<string, string>,
  externalId: string = randomUUID(),
): Promise<{ orderId: string; externalId: string }> {
  const answer = await service.call('POST', '/v1/third-party/orders/', {
    headers: partner,
    json: { external_order_id: externalId, items: [{ item_id: 'WATER', quantity: 1 }] },
  });
  assert.equal(answer.status, 201, answer.text);
  return { orderId: answer.body.order_id, externalId };
}

export async function moveOrder(
  service: TestService,
  tenant: TestTenant,
  orderId: string,
  status: string,
): Promise<void> {
  const answer = await service.call('POST', `/v1/staff/orders/${orderId}/status/`, {
    headers: tenant.staff,
    json: { status },
  });
  assert.equal(answer.status, 200, answer.text);
}

/** Places an order and confirms it, which causes one event. */
export async function causeEvent(service: TestService, tenant: TestTenant, partner = tenant.partner) {
  const order = await placeOrder(service, partner);
  await moveOrder(service, tenant, order.orderId, 'confirmed');
  return order;
}

export async function listDeliveries(service: TestService, tenant: TestTenant): Promise<ListedDelivery[]> {
  return await entriesOf(service, '/v1/staff/webhook-deliveries/', tenant.staff);
}

export async function onlyDelivery(service: TestService, tenant: TestTenant, status: string): Promise<ListedDelivery> {
  return await eventually(async () => {
    const [delivery, ...others] = await listDeliveries(service, tenant);
    assert.deepEqual(others, []);
    return delivery?.status === status && delivery;
  }, `a delivery that is ${status}`);
}

/** Does not use the signing code of the service. */
export function isSignedWith(secret: string, request: ReceivedRequest, brand = 'service'): boolean {
  const timestamp = String(request.headers[`x-${brand}-timestamp`]);
  const expected = createHmac('sha256', secret).update(timestamp).update('.').update(request.rawBody).digest('hex');
  return request.headers[`x-${brand}-signature`] === `sha256=${expected}`;
}

/** Calls the condition until it returns a truthy value, which it returns. @param what names the value in the error */
export async function eventually<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  timeoutMs = 15_000,
): Promise<T> {
  for (const deadlineMs = Date.now() + timeoutMs; Date.now() < deadlineMs; await sleep(20)) {
    const result = await condition();
    if (result) {
      return result;
    }
  }
  throw new Error(`There was no ${what} within ${timeoutMs} ms.`);
}
