import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { startReceiver } from '../../support/receiver.ts';
import { place, STAFF_ORDERS } from '../../support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '../../support/service.ts';
import { SESSIONS } from '../../support/sessions.ts';
import { OWNER_PASSWORD } from '../../support/tenants.ts';
import { causeEvent, eventually, onlyDelivery, register } from '../../support/webhooks.ts';
import type { WatchedPage } from '../browser/browser.ts';
import { browser, DESKTOP, skip } from './console.ts';

/** More elements than these take the focus on no screen of this test. */
const MOST_TABS = 80;

describe('the console by keyboard alone', { skip }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    assert.ok(typeof browser === 'object');
    service = await startService({ worker: { drawWaitMs: () => 0, probeRestMs: 0, pollEveryMs: 100 } });
    tenant = await service.tenant();
    watched = await browser.open({ ...DESKTOP, baseURL: service.url });
    page = watched.page;
    page.setDefaultTimeout(30_000);
  });
  after(async () => {
    await watched.close();
    await service.close();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Moves the focus on by Tab until it is on the element. */
  const tabTo = async (target: Locator) => {
    await target.waitFor();
    for (let count = 0; count < MOST_TABS; count += 1) {
      if ((await target.and(page.locator(':focus')).count()) === 1) return;
      await press('Tab');
    }
    assert.fail(`Tab does not lead to ${String(target)}`);
  };
  const enter = async (target: Locator) => {
    await tabTo(target);
    await press('Enter');
  };
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const closeDrawer = async () => {
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  /** Finds a command in the palette, and runs it. */
  const command = async (words: string) => {
    const field = page.getByLabel('Command');
    await press('Control+k');
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type(words);
    await press('Enter');
    await field.waitFor({ state: 'detached' });
  };
  const order = async () => {
    const { body } = await place(service, tenant);
    const read = async () =>
      (await service.call('GET', `${STAFF_ORDERS}${body.order_id}/`, { headers: tenant.staff })).body;
    return { number: (await read()).number as string, status: async () => (await read()).status as string };
  };

  it('an owner signs in, works on every screen, and signs out', async () => {
    const { number, status } = await order();
    await page.goto('/console/');
    await heading('Sign in');
    await page.keyboard.type(`owner@${tenant.document.slug}.example`);
    await press('Tab');
    await page.keyboard.type(OWNER_PASSWORD);
    await press('Enter');
    await heading('Today');
    watched.problems();
    await enter(page.getByRole('link', { name: /^New\s*1/ }));
    await heading('Orders');

    await enter(button(`#${number}`));
    const drawer = page.getByRole('dialog', { name: `Order #${number}` });
    await enter(drawer.getByRole('button', { name: 'Accept' }));
    await enter(drawer.getByRole('button', { name: /^Undo/ }));
    await drawer.getByRole('button', { name: 'Accept' }).waitFor();
    await closeDrawer();
    await press('v');
    const columnOf = (name: string) => page.getByRole('region', { name, exact: true }).getByText(`#${number}`);
    await columnOf('New').waitFor();
    await press('1');
    await columnOf('Confirmed').waitFor();
    await press('u');
    await columnOf('New').waitFor();
    await enter(button('Accept'));
    await eventually(async () => (await status()) === 'confirmed', 'confirmed order');
    await page.getByRole('button', { name: 'Cook', exact: true }).waitFor();
    await enter(button(`More for order ${number}`));
    // The menu takes the keys a moment after it appears.
    await eventually(async () => {
      await press('ArrowDown');
      return (await page.locator('[role=menuitem]:focus').count()) === 1;
    }, 'focus in the menu');
    await press('End', 'Enter');
    await page.getByLabel('Reason').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('The oven is cold.');
    await press('Enter');
    await eventually(async () => (await status()) === 'cancelled', 'cancelled order');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const other = await order();
    await page.getByText(`#${other.number}`).waitFor();
    await press('k');
    await enter(button('Sold out: Margherita'));
    await page.getByText('Margherita is off the menu').waitFor();
    assert.equal((await place(service, tenant)).status, 400);
    await enter(button('Put back: Margherita'));
    await page.getByText('Margherita is on the menu').waitFor();
    await press('k');

    await press('g', 'p');
    await heading('Partners');
    await press('n');
    await page.getByLabel('Name of the platform').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('City Delivery');
    await press('Enter');
    await enter(button('I have it'));
    await enter(page.getByRole('table').getByRole('button', { name: 'City Delivery' }));
    await page.getByRole('dialog', { name: 'City Delivery' }).waitFor();
    await closeDrawer();

    const receiver = await startReceiver({ answer: () => 503 });
    try {
      await register(service, tenant.partner, receiver.url);
      await causeEvent(service, tenant);
      await onlyDelivery(service, tenant, 'failed');
      await press('g', 'd');
      await heading('Deliveries');
      await enter(button('Failed'));
      await enter(button(/^Order status/));
      await page.getByRole('dialog').getByText('In the partner’s feed instead').waitFor();
      await closeDrawer();
    } finally {
      await receiver.close();
    }

    await press('?');
    await page.getByRole('dialog').getByText('Go to Partners').waitFor();
    await closeDrawer();
    await command('Go to Today');
    await heading('Today');
    assert.deepEqual(watched.problems(), []);
    await command('Sign out');
    await heading('Sign in');
    assert.deepEqual((await service.call('GET', SESSIONS, { headers: tenant.owner })).body, []);
  });
});
