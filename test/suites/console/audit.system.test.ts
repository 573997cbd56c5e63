import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { readCsv } from '../../support/csv.ts';
import { entriesOf } from '../../support/lists.ts';
import { PEOPLE } from '../../support/people.ts';
import { readStaffMenu, STAFF_MENU } from '../../support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '../../support/service.ts';
import { personId } from '../../support/sessions.ts';
import type { WatchedPage } from '../browser/browser.ts';
import { openConsole, skip } from './console.ts';

const AUDIT = '/v1/staff/audit/';

describe('the audit trail in the console', { skip }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let watched: WatchedPage;
  let page: Page;
  let owner: string;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    owner = `owner@${tenant.document.slug}.example`;
    watched = await openConsole(service, tenant);
    page = watched.page;
  });
  after(async () => {
    await watched.close();
    await service.close();
  });

  const changePrice = async (price: string, headers = tenant.owner) =>
    await service.call('PATCH', '/v1/staff/dishes/WATER/', { headers, json: { price } });
  const openAudit = async (search = '') => {
    await page.goto(`/console/audit${search}`);
    await page.getByRole('table', { name: 'Audit' }).waitFor();
  };
  const sentence = async (text: string) => await page.getByRole('cell', { name: text }).first().waitFor();
  const rows = async () => await page.locator('tr[data-key]').allInnerTexts();

  it('an entry says in a sentence who did what, below its day, and appears by itself', async () => {
    await openAudit();
    await page.getByRole('rowheader', { name: 'Today' }).waitFor();
    await sentence('The operator applied the tenant document');
    assert.equal((await changePrice('3.10')).status, 200);
    await sentence(`${owner} changed the dish Water`);
    assert.match((await rows())[0] ?? '', /price: 2\.50 → 3\.10/);
    const menu = {
      ...(await readStaffMenu(service, tenant)).menu,
      categories: [{ name: 'Pizza' }, { name: 'Drinks' }],
    };
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json: menu })).status, 200);
    await sentence(`staff@${tenant.document.slug}.example imported the menu`);
    assert.deepEqual(watched.problems(), []);
  });

  it('the names of a sentence filter, the filters are in the address, and the CSV has what is filtered', async () => {
    assert.equal((await changePrice('3.20', tenant.staff)).status, 200);
    await openAudit();
    await page.getByRole('link', { name: 'Water' }).first().click();
    await page.getByText('About Water').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('subject'), 'WATER');
    const about = await entriesOf(service, `${AUDIT}?subject=WATER`, tenant.owner);
    assert.deepEqual([(await rows()).length, about.length], [2, 2]);

    await page.getByRole('combobox', { name: 'Person' }).click();
    await page.getByRole('option', { name: owner }).click();
    await page.getByText('price: 3.10 → 3.20').waitFor({ state: 'detached' });
    const id = await personId(service, tenant.tenantId, 'owner');
    assert.equal(new URL(page.url()).searchParams.get('actor'), id);
    await page.reload();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV of these 1' }).click();
    const [head, ...lines] = readCsv((await readFile(await (await download).path(), 'utf8')).replace('\uFEFF', ''));
    assert.deepEqual(head, ['time', 'who', 'what', 'details', 'action', 'subject']);
    const [entry] = about.filter(({ actor }: { actor: { id: string } }) => actor.id === id);
    const details = 'dish WATER changed price: 2.50 → 3.10';
    const at = new Date(entry.at).toLocaleString('sv-SE', { timeZone: tenant.document.timezone });
    assert.deepEqual(lines, [[at, owner, 'changed the dish Water', details, 'dish.changed', 'WATER']]);
    assert.deepEqual(watched.problems(), []);
  });

  it('by the keyboard alone: an action is chosen, nothing passes, and everything is shown again', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    await page.getByRole('combobox', { name: 'Action' }).focus();
    await page.keyboard.type('renamed');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was done that passes these filters.').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('action'), 'credential.changed');
    await page.getByRole('link', { name: 'Show everything' }).focus();
    await page.keyboard.press('Enter');
    await sentence('The operator applied the tenant document');
    assert.deepEqual(watched.problems(), []);
  });

  it('the days of the filter are both included, and older entries come page by page', async () => {
    const actor = {
      tenant_id: tenant.tenantId,
      actor_type: 'operator',
      subject: String(tenant.tenantId),
      details: '{}',
    };
    const at = new Date('2024-02-03T12:00:00Z');
    const values = Array.from({ length: 60 }, (_, index) => ({
      ...actor,
      id: `018d6e2c-0000-7000-8000-${String(index).padStart(12, '0')}`,
      at,
      action: 'pause.ended',
    }));
    await service.database.db.insertInto('audit_entry').values(values).execute();
    await openAudit('?from=2024-02-03&to=2024-02-03');
    await page.getByRole('rowheader', { name: '2024' }).waitFor();
    assert.equal((await rows()).length, 50);
    const { promise: isHeard, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(/audit\/.*after=/, async (request) => {
      await isHeard;
      await request.continue();
    });
    await page.getByRole('button', { name: 'Show more' }).click();
    // A change that the screen hears of meanwhile does not cancel the next page.
    const reread = page.waitForRequest(/staff\/people\//);
    const person = await personId(service, tenant.tenantId, 'staff');
    const json = { name: 'Ana Paula' };
    assert.equal((await service.call('PATCH', `${PEOPLE}${person}/`, { headers: tenant.owner, json })).status, 200);
    await reread;
    goOn();
    await page.getByRole('button', { name: 'CSV of these 60' }).waitFor();
    await page.goto('/console/audit?from=2024-02-04&to=2024-02-05');
    await page.getByText('Nothing was done that passes these filters.').waitFor();
    assert.deepEqual(watched.problems(), []);
  });

  it('staff do not see the screen, and its address says why', async () => {
    const staff = await openConsole(service, tenant, { role: 'staff' });
    try {
      assert.equal(await staff.page.getByRole('link', { name: 'Audit' }).count(), 0);
      await staff.page.goto('/console/audit');
      await staff.page.getByText('You may not use this screen').waitFor();
    } finally {
      await staff.close();
    }
  });
});
