import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { book, openHotel, pmsHeaders, reservationPath, type TestHotel } from '../../support/hotel.ts';
import { startReceiver } from '../../support/receiver.ts';
import { MENU, place, setOrderStatus } from '../../support/restaurant.ts';
import { startService, type TestService } from '../../support/service.ts';
import { causeEvent, eventually, listDeliveries, register } from '../../support/webhooks.ts';
import { overflowPx, type WatchedPage } from '../browser/browser.ts';
import { openConsole, skip } from './console.ts';

const EVENTS = '/v1/third-party/events/';
const PMS_PROPERTIES = '/v1/channel-manager/pms/properties/';
/** Script that returns all that the page keeps: what it has stored, and what its cache holds of answers and of what was sent. */
const KEPT = `(async () => {
  const root = document.querySelector('#root');
  const [key] = Object.keys(root).filter((name) => name.startsWith('__reactContainer'));
  const clientIn = (fiber) => fiber && (fiber.memoizedProps?.client ?? clientIn(fiber.child) ?? clientIn(fiber.sibling));
  const client = clientIn(root[key].stateNode.current);
  const answers = client.getQueryCache().getAll().map(({ state }) => state.data);
  const writes = client.getMutationCache().getAll().map(({ state }) => [state.variables, state.data]);
  const stores = [await caches.keys(), await indexedDB.databases()];
  return JSON.stringify([answers, writes, stores, { ...localStorage }, { ...sessionStorage }, document.cookie]);
})()`;

describe('partners and deliveries in the console', { skip }, () => {
  let service: TestService;
  let tenant: TestHotel;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    service = await startService({ worker: { drawWaitMs: () => 0, probeRestMs: 0, pollEveryMs: 100 } });
    tenant = await openHotel(service);
    watched = await openConsole(service, tenant);
    page = watched.page;
  });
  after(async () => {
    await watched.close();
    await service.close();
  });

  const statusWith = async (key: string, secret: string) =>
    (await service.call('GET', MENU, { headers: { 'x-api-key': key, 'x-api-secret': secret } })).status;
  const shownSecret = async () => {
    const dialog = page.getByRole('dialog', { name: /^Key and secret of/ });
    await dialog.waitFor();
    const texts = await dialog.locator('pre').allTextContents();
    return { dialog, key: texts[0] ?? '', secret: texts[1] ?? '' };
  };
  /** Asserts that neither the page nor anything that it keeps has the secret any more. */
  const assertForgotten = async (secret: string) => {
    const has = async () => `${await page.content()} ${await page.evaluate<string>(KEPT)}`.includes(secret);
    await eventually(async () => !(await has()), 'page without the secret');
  };

  it('an owner connects a partner, sees its secret once, gives it a new one with an overlap, and revokes it by typing its name', async () => {
    await page.goto('/console/partners');
    await page.getByRole('button', { name: 'Connect a partner' }).click();
    await page.getByLabel('Name of the platform').fill('City Delivery');
    await page.getByRole('button', { name: 'Make key and secret' }).click();
    const made = await shownSecret();
    assert.equal(await statusWith(made.key, made.secret), 200);
    await page.keyboard.press('Escape');
    await page.goBack();
    await made.dialog.getByText(made.secret, { exact: true }).waitFor();
    await made.dialog.getByText('Mail, without the secret').click();
    assert.ok(!(await made.dialog.locator('pre').last().textContent())?.includes(made.secret));
    await made.dialog.getByRole('button', { name: 'I have it' }).click();
    await made.dialog.waitFor({ state: 'detached' });
    await assertForgotten(made.secret);

    await page.getByRole('button', { name: 'City Delivery' }).click();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('button', { name: 'Make a new secret' }).click();
    const rotated = await shownSecret();
    assert.equal(rotated.key, made.key);
    await rotated.dialog.getByRole('button', { name: 'I have it' }).click();
    await rotated.dialog.waitFor({ state: 'detached' });
    await assertForgotten(rotated.secret);
    assert.deepEqual([await statusWith(made.key, made.secret), await statusWith(made.key, rotated.secret)], [200, 200]);

    const confirm = page.getByRole('dialog', { name: 'Revoke City Delivery' });
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await confirm.waitFor();
    await page.goBack();
    await confirm.waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByRole('button', { name: 'Revoke', exact: true }).waitFor();
    assert.equal(await confirm.count(), 0, 'Back has left the question');
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    const button = confirm.getByRole('button', { name: 'Revoke' });
    await confirm.getByLabel(/^Type/).fill('City');
    assert.ok(await button.isDisabled());
    await confirm.getByLabel(/^Type/).fill('City Delivery');
    await button.click();
    await page.getByRole('table').getByText('Revoked').waitFor();
    await eventually(async () => (await statusWith(made.key, rotated.secret)) === 401, 'refusal of the revoked key');
    assert.deepEqual(watched.problems(), []);
  });

  it('a new secret of a PMS and the end of a webhook are asked for first, because both end at once what works', async () => {
    const pms = await pmsHeaders(service, tenant);
    await page.goto('/console/partners?kind=pms');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await service.call('GET', PMS_PROPERTIES, { headers: pms })).status, 200);
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click();
    const { dialog } = await shownSecret();
    assert.equal((await service.call('GET', PMS_PROPERTIES, { headers: pms })).status, 401);
    const shell = await dialog.locator('pre').last().textContent();
    const { stdout } = await promisify(execFile)('sh', ['-c', `${shell} -s -o /dev/null -w '%{http_code}'`]);
    assert.equal(stdout, '200', 'the call to hand on works');
    await dialog.getByText('Mail, without the secret').click();
    await dialog.getByText('/docs/guides/pms/', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'I have it' }).click();

    const { credential, partner } = await service.credential(tenant.tenantId);
    await register(service, partner, 'https://partner.example/webhooks');
    await page.goto(`/console/partners?open=${credential.id}`);
    const ask = page.getByRole('dialog', { name: /^Remove the webhook/ });
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Address of the receiver').fill('http://partner.example/');
    await page.getByRole('button', { name: 'Register', exact: true }).click();
    await page.getByText('Address must be an HTTPS URL.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await ask.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No webhook is registered').waitFor();
    watched.problems();
  });

  it('the drawer of a partner shows its refused calls with the request id that the partner saw', async () => {
    const refused = await service.call('POST', '/v1/third-party/orders/', {
      headers: tenant.partner,
      json: { external_order_id: 'R-1', items: [{ item_id: 'NOPE', quantity: 1 }] },
    });
    assert.equal(refused.status, 400);
    await page.goto(`/console/partners?open=${tenant.credential.id}`);
    await page.getByText(`Request ${refused.headers.get('x-request-id')}`).waitFor();
    await page.getByText('400 item_not_found').waitFor();
  });

  it('a receiver that answers 503 and then 200: the delivery says so in words, and turns delivered on the screen by itself', async () => {
    const receiver = await startReceiver({ answer: () => ({ status: 503, body: 'the queue is full' }) });
    try {
      await register(service, tenant.partner, receiver.url);
      await page.goto('/console/partners');
      await page.getByRole('table').getByText('Nothing sent lately').waitFor();
      await page.goto('/console/deliveries');
      const { orderId } = await causeEvent(service, tenant);
      await page.getByRole('table').getByText('Failed').waitFor();
      assert.equal((await listDeliveries(service, tenant))[0]?.attempts.length, 5);
      await page.getByRole('button', { name: /^Order status/ }).click();
      const drawer = page.getByRole('dialog');
      await drawer.getByText('answered 503').nth(4).waitFor();
      await drawer.getByText('The partner reads it as').waitFor();
      await drawer.getByText(receiver.url, { exact: true }).waitFor();
      const partner = await drawer.getByRole('link', { name: 'A platform' }).getAttribute('href');
      assert.match(partner ?? '', new RegExp(`open=${tenant.credential.id}$`));
      const texts = await drawer.locator('pre').allTextContents();
      assert.ok(texts.some((text) => text.startsWith('curl http://localhost:3000/webhook')));
      assert.ok(
        texts.includes(receiver.requests[0]?.rawBody.toString() ?? ''),
        'the body, byte for byte as it is signed',
      );
      const { cursor: _cursor, ...entry } = (await service.call('GET', EVENTS, { headers: tenant.partner })).body
        .results[0];
      assert.deepEqual(JSON.parse(texts.find((text) => text.startsWith('{')) ?? ''), entry);
      await drawer.getByRole('link', { name: /^#\w+, / }).click();
      await page.getByRole('dialog', { name: /^Order #/ }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('open'), orderId);
      await page.goto('/console/deliveries');

      receiver.answerWith(() => 200);
      await causeEvent(service, tenant);
      await page.getByRole('table').getByText('Delivered').waitFor();
      await page.goto('/console/deliveries?status=failed');
      await page.getByRole('table').waitFor();
      assert.equal(await page.getByRole('table').getByText('Delivered').count(), 0);
      assert.deepEqual(watched.problems(), []);
    } finally {
      await receiver.close();
    }
  });

  it('the drawer of a partner has its orders and its stays by day, without those that were cancelled', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const own = { ...tenant, partner };
    const [order, stay] = await Promise.all([place(service, own), book(service, own)]);
    await Promise.all([place(service, own), book(service, own)]);
    await setOrderStatus(service, tenant, order.body.order_id, 'cancelled');
    const cancel = reservationPath(stay.body.external_reservation_id, 'cancel/');
    assert.equal((await service.call('POST', cancel, { headers: partner })).status, 200);
    await page.goto(`/console/partners?open=${credential.id}`);
    await page.getByText('1 order for €10.75.').waitFor();
    await page.getByText('1 stay for €160.00.').waitFor();
    assert.deepEqual(watched.problems(), []);
  });

  it('an address with a filter that does not exist shows the whole list', async () => {
    await page.goto('/console/deliveries?status=nonsense&open=');
    await page.getByRole('table').getByText('Delivered').waitFor();
    assert.deepEqual(watched.problems(), []);
  });

  it('on a phone, the filters of deliveries take one row, and a button shows the others', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/console/deliveries?status=stopped');
    const [chips, event] = [page.getByRole('group', { name: 'Status' }), page.getByPlaceholder('All events')];
    const pressed = await chips.getByRole('button', { name: 'Stopped', pressed: true }).boundingBox();
    assert.ok(pressed !== null && pressed.x + pressed.width <= 390, JSON.stringify(pressed));
    assert.equal(await event.isVisible(), false);
    await page.getByRole('button', { name: 'Filters', expanded: false }).press('Enter');
    await event.waitFor();
    assert.ok((await overflowPx(page)) <= 0);
    assert.deepEqual(watched.problems(), []);
  });
});
