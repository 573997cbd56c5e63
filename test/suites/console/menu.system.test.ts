import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { auditOf, dishOf, place, readStaffMenu } from '../../support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '../../support/service.ts';
import { changePerson } from '../../support/people.ts';
import { personId } from '../../support/sessions.ts';
import { eventually } from '../../support/webhooks.ts';
import type { WatchedPage } from '../browser/browser.ts';
import { openConsole, skip } from './console.ts';

const DEMO = join(import.meta.dirname, '../../../examples/demo/tenant.json');
const REFUSED = /^(?:412: |console: Failed to load resource: the server responded with a status of 412)/;

describe('the menu in the console', { skip }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    watched = await openConsole(service, tenant, { role: 'staff' });
    page = watched.page;
    await openMenu();
  });
  after(async () => {
    await watched.close();
    await service.close();
  });

  const openMenu = async (path = '') => {
    await page.goto(`/console/menu${path}`);
    await page.getByRole('table', { name: 'Dishes' }).waitFor();
  };
  const onMenu = (name: string): Locator => page.getByRole('switch', { name: `${name} on the menu` });
  const notice = async (text: string) => await page.getByRole('alert').filter({ hasText: text }).waitFor();
  const stored = async (sku: string) =>
    (await readStaffMenu(service, tenant)).menu.dishes.find((dish) => dish.sku === sku);

  it('a dish that is taken off the menu is refused in the next order of a partner, and comes back by Undo', async () => {
    await onMenu('Margherita').click();
    await notice('Margherita is off the menu');
    assert.equal(await onMenu('Margherita').isChecked(), false);
    const refused = await place(service, tenant);
    assert.deepEqual([refused.status, refused.body.code], [400, 'item_not_found']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await notice('Margherita is on the menu');
    assert.equal(await onMenu('Margherita').isChecked(), true);
    assert.equal((await place(service, tenant)).status, 201);
    assert.deepEqual(watched.problems(), []);
  });

  it('a screen that fails leaves the way to the others', async () => {
    await page.route('**/v1/staff/menu/', (route) => route.fulfill({ json: {} }));
    await page.goto('/console/menu');
    await page.getByText('That did not work').waitFor();
    await page.unroute('**/v1/staff/menu/');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    watched.problems();
  });

  it('a price is changed in place with Enter and undone, Esc leaves it, and a price that the API refuses comes back', async () => {
    await openMenu();
    const price = page.getByRole('textbox', { name: 'Price of Margherita' });
    await price.fill('11,5');
    await price.press('Enter');
    await notice('It was €10.00.');
    assert.equal((await dishOf(service, tenant, 'PIZZA-1')).price, '11.50');
    assert.equal(await price.inputValue(), '11.50');
    assert.equal(new URL(page.url()).search, '');
    await page.getByRole('button', { name: 'Undo' }).click();
    await notice('It was €11.50.');
    assert.equal((await dishOf(service, tenant, 'PIZZA-1')).price, '10.00');
    await price.fill('99');
    await price.press('Escape');
    assert.equal(await price.inputValue(), '10.00');
    assert.deepEqual(watched.problems(), []);

    await price.fill('cheap');
    await price.press('Enter');
    await notice('“cheap” is no price.');
    assert.equal(await price.inputValue(), '10.00');
    assert.equal((await stored('PIZZA-1'))?.price, '10.00');
    await price.fill('10,50 €');
    await price.press('Enter');
    await notice('Margherita costs €10.50');
    await page.getByRole('button', { name: 'Undo' }).click();
    await notice('It was €10.50.');
    assert.deepEqual(watched.problems(), []);
  });

  it('Undo of a price tells if somebody has changed it meanwhile, and leaves it', async () => {
    await openMenu();
    const price = page.getByRole('textbox', { name: 'Price of Water' });
    await price.fill('3.00');
    await price.press('Enter');
    await notice('Water costs €3.00');
    const other = { headers: tenant.owner, json: { price: '4.00' } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/WATER/', other)).status, 200);
    await eventually(async () => (await price.inputValue()) === '4.00', 'the price of somebody else on the screen');
    await page.getByRole('button', { name: 'Undo' }).click();
    await notice('Somebody has changed the price meanwhile.');
    assert.equal((await stored('WATER'))?.price, '4.00');
    assert.deepEqual(watched.problems(), []);
  });

  it('a category is taken off and put on at once, also by the keyboard alone, and search and filters are in the address', async () => {
    await openMenu();
    await page.getByRole('button', { name: 'All off: Pizza' }).click();
    await notice('Margherita is off the menu');
    assert.equal(await page.getByRole('button', { name: 'Undo' }).locator('kbd').innerText(), 'u');
    await page.getByRole('button', { name: 'All on: Pizza' }).click();
    await notice('2 dishes are on the menu');
    const [entry] = await auditOf(service, tenant, 'dishes.availability_changed');
    assert.deepEqual(entry?.details, { is_active: true, skus: ['PIZZA-1', 'OFF'] });

    await page.keyboard.press('/');
    await page.keyboard.type('pizza-');
    await page.getByRole('button', { name: 'Water' }).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('text'), 'pizza-');
    await openMenu('?text=pizza');
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+M');
    await notice('2 dishes are off the menu');
    assert.deepEqual([(await stored('PIZZA-1'))?.is_active, (await stored('OFF'))?.is_active], [false, false]);
    await page.keyboard.press('u');
    await notice('2 dishes are on the menu');
    assert.equal((await stored('OFF'))?.is_active, true);
    await page.keyboard.press('Shift+M');
    await notice('2 dishes are off the menu');
    for (const key of ['j', 'j', 'k', 'p', '9', '.', '9', 'Enter']) await page.keyboard.press(key);
    await notice('Margherita costs €9.90');
    assert.equal((await stored('PIZZA-1'))?.price, '9.90');
    await page.keyboard.press('u');
    await notice('Margherita costs €10.00');
    await openMenu('?text=tonight');
    await page.getByRole('button', { name: 'Not tonight' }).click();
    await page.getByRole('dialog', { name: 'Not tonight' }).getByRole('button', { name: 'Put it on the menu' }).click();
    await notice('Not tonight is on the menu');
    await openMenu();
    await page.getByRole('button', { name: 'Off the menu' }).click();
    await page.getByRole('button', { name: 'Not tonight' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Margherita' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('shown'), 'off');
    assert.equal((await stored('OFF'))?.is_active, true);
    assert.deepEqual(watched.problems(), []);
  });

  it('the drawer shows a dish as partners get it, without what they do not see', async () => {
    await page.goto('/console/menu?open=PIZZA-1');
    const drawer = page.getByRole('dialog', { name: 'Margherita' });
    for (const text of ['€10.00, plus 7.5% tax', 'tomato, mozzarella', 'Large', '€13.00', 'Extra cheese (veg)']) {
      await drawer.getByText(text, { exact: true }).waitFor();
    }
    assert.equal(await drawer.getByText('Truffle').count(), 0);
    const href = await drawer.getByRole('link', { name: 'What partners are told' }).getAttribute('href');
    assert.equal((await fetch(new URL(href ?? '', service.url))).status, 200);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).search, '');
  });

  it('an import shows field by field what it would change, tells a change in between, compares again, and applies', async () => {
    await openMenu();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const path = await (await download).path();
    const { menu } = await readStaffMenu(service, tenant);
    const exported = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(exported, menu);

    const changed = exported.dishes.map((dish: { sku: string }) =>
      dish.sku === 'PIZZA-1' ? { ...dish, price: '12.00', price_variants: [], description: '' } : dish,
    );
    const soup = { sku: 'SOUP', name: 'Soup', price: '4.00', category: 'Pizza' };
    const dishes = [...changed.filter(({ sku }: { sku: string }) => sku !== 'WATER'), soup];
    const on = { skus: ['WATER'], is_active: true };
    await service.call('POST', '/v1/staff/dishes/availability/', { headers: tenant.owner, json: on });
    await choose('new.json', { ...exported, dishes });
    const dialog = page.getByRole('dialog', { name: 'Import new.json' });
    await dialog.getByRole('heading', { name: 'Added: 1' }).waitFor();
    const told = async () => (await dialog.innerText()).replaceAll(/\s+/g, ' ');
    assert.match(await told(), /Added: 1 Soup Changed: 1 Margherita/);
    for (const text of [/price 10\.00 → 12\.00/, /price variants Large 13\.00 → nothing/, /Taken off: 1 Water/]) {
      assert.match(await told(), text);
    }
    assert.equal((await stored('SOUP')) ?? null, null);

    const meanwhile = { headers: tenant.owner, json: { price: '10.50' } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/PIZZA-1/', meanwhile)).status, 200);
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('Somebody has changed the menu meanwhile').waitFor();
    await dialog.getByText('10.50').waitFor();
    assert.equal((await stored('PIZZA-1'))?.price, '10.50');
    assert.deepEqual(
      watched.problems().filter((problem) => !REFUSED.test(problem)),
      [],
    );

    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Soup' }).waitFor();
    assert.deepEqual([(await stored('PIZZA-1'))?.price, (await stored('WATER'))?.is_active], ['12.00', false]);
    assert.deepEqual(watched.problems(), []);
  });

  /** Chooses a file as a person does, with the key of the screen. */
  async function choose(name: string, content: unknown): Promise<void> {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('i');
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await (await chooser).setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  }

  it('a file that is no menu is told in words, and changes nothing', async () => {
    const { menu } = await readStaffMenu(service, tenant);
    for (const [content, words] of [
      ['no document', /is no menu document/],
      [{ menu }, /is no menu document/],
      [{ ...menu, dishes: menu.dishes.map((dish) => ({ ...dish, price: '1,5' })) }, /Price \(Margherita\) must be/],
    ] as const) {
      await choose('wrong.json', content);
      const dialog = page.getByRole('dialog', { name: 'Import wrong.json' });
      await dialog.getByText(words).waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled());
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    assert.deepEqual((await readStaffMenu(service, tenant)).menu, menu);
    watched.problems();
  });

  it('staff without the area do not see the screen, and its address says why', async () => {
    const id = await personId(service, tenant.tenantId, 'staff');
    assert.equal((await changePerson(service, tenant, id, { areas: ['orders'] })).status, 200);
    await page.goto('/console/menu');
    await page.getByText('You may not use this screen').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Menu' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Orders' }).count(), 1);
    assert.equal((await changePerson(service, tenant, id, { areas: ['menu'] })).status, 200);
    await page.goto('/console/menu');
    await page.getByRole('link', { name: 'Menu' }).waitFor();
    watched.problems();
  });

  it('an empty menu says how to begin: its example is imported as it is, and then the menu of the demo, in which a press is painted within 100 ms', async () => {
    const own = await service.tenant({ menu: { dishes: [] } });
    const first = await openConsole(service, own);
    try {
      page = first.page;
      await page.goto('/console/menu');
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download an example' }).click();
      const example = JSON.parse(await readFile(await (await download).path(), 'utf8'));
      const { menu } = JSON.parse(await readFile(DEMO, 'utf8'));
      for (const document of [example, menu]) {
        await choose('menu.json', document);
        await page.getByRole('heading', { name: /^Added: / }).waitFor();
        await page.getByRole('button', { name: 'Import', exact: true }).last().click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        assert.equal((await readStaffMenu(service, own)).menu.dishes.length >= document.dishes.length, true);
      }
      await page.getByRole('button', { name: 'Hot Mix' }).waitFor();
      const times = (await page.evaluate(`(async () => {
        const times = [];
        for (let count = 0; count < 5; count += 1) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          const startedAt = performance.now();
          document.querySelectorAll('[role="switch"]')[count].click();
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          times.push(performance.now() - startedAt);
        }
        return times;
      })()`)) as number[];
      // Other tests may need the processor meanwhile, so the quickest press counts.
      assert.ok(Math.min(...times) <= 100, `a press took ${times.map(Math.round).join(', ')} ms`);
      assert.deepEqual(first.problems(), []);
    } finally {
      await first.close();
      page = watched.page;
    }
  });
});
