import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { DOCUMENTS } from '#developer/docs/api-documents.ts';
import { GUIDE_NAMES } from '#developer/docs/guides.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { accessibilityViolations, findBrowser, overflowPx, showIn, type WatchedPage } from './browser.ts';

const browser = await findBrowser();
const skip = typeof browser === 'string' && browser;

/** Set to a folder, the pages are kept there as pictures, to be looked at. */
const SCREENSHOTS = process.env['SCREENSHOTS'];
const DEVICES = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];
/** An open dialog is modal, but Scalar leaves the page behind it in the tree, with a `main` of its own. */
const IN_DIALOG = ['landmark-no-duplicate-main'];

for (const [device, options] of Object.entries(DEVICES)) {
  describe(`the site in a browser, on a ${device}`, { skip }, () => {
    let service: TestService;
    let tenant: TestTenant;
    let watched: WatchedPage;
    let page: Page;
    before(async () => {
      assert.ok(typeof browser === 'object');
      service = await startService();
      tenant = await service.tenant();
      watched = await browser.open({ ...options, baseURL: service.url });
      page = watched.page;
      page.setDefaultTimeout(20_000);
    });
    after(async () => {
      await watched.close();
      await service.close();
    });

    /** Holds the page, as it stands, against everything that is asked of all pages. */
    async function check(name: string, disabledRules: string[] = [], schemes: readonly Scheme[] = SCHEMES) {
      for (const colorScheme of schemes) {
        await showIn(page, colorScheme);
        if (SCREENSHOTS !== undefined) {
          await page.screenshot({ path: join(SCREENSHOTS, `${name}-${device}-${colorScheme}.png`) });
        }
        assert.deepEqual(await accessibilityViolations(page, disabledRules), [], `${name} ${colorScheme}`);
      }
      assert.ok((await overflowPx(page)) <= 0, `${name} is wider than the window`);
      assert.deepEqual(watched.problems(), [], name);
    }

    /** Opens the reference of a document, and waits until it is drawn. */
    async function openReference(name: string) {
      await page.goto('about:blank');
      await page.goto(`/docs/#${name}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
    }

    it('the guides and their index', async () => {
      for (const name of ['', ...GUIDE_NAMES.map((guide) => `${guide}/`)]) {
        await page.goto(`/docs/guides/${name}`);
        await check(`guide-${name.replace('/', '') || 'index'}`);
      }
    });

    it('the reference of each document, from its beginning to its end', async () => {
      for (const { name } of DOCUMENTS) {
        await openReference(name);
        // What is further down is drawn when it comes into view.
        for (let screen = 0; screen < 20; screen++) {
          await page.evaluate('window.scrollBy(0, 1500)');
          await page.waitForTimeout(50);
        }
        await page.evaluate('window.scrollTo(0, 0)');
        // The others are drawn of the same parts as the first: they are looked at once on each device, in one scheme there.
        await check(
          `reference-${name}`,
          [],
          name === 'third-party' ? SCHEMES : [device === 'phone' ? 'dark' : 'light'],
        );
      }
    });

    it('another document is chosen', async () => {
      await openReference('third-party');
      if (device === 'phone') {
        await page.getByRole('region', { name: 'Place in the document' }).getByRole('button').click();
      }
      await page.getByRole('button', { name: 'Third-party API' }).filter({ visible: true }).click();
      await check('reference-choice');
      await page.getByRole('option', { name: 'PMS API' }).click();
      await page.getByRole('heading', { level: 1, name: /PMS/ }).waitFor();
      assert.deepEqual(watched.problems(), []);
    });

    it('a call is tried out with a real credential', async () => {
      await openReference('third-party/tag/restaurant/GET/v1/third-party/menu/');
      const [key, secret] = [tenant.credential.api_key, tenant.credential.api_secret];
      await page.getByLabel('Value').and(page.locator('input')).nth(0).fill(key);
      await page.getByLabel('Value').and(page.locator('input')).nth(1).fill(secret);
      await page.getByRole('button', { name: /Test Request.*third-party\/menu/ }).click();
      await check('dialog', IN_DIALOG);
      const answered = page.waitForResponse('**/v1/third-party/menu/**');
      await page.getByRole('button', { name: /^Send/ }).first().click();
      const answer = await answered;
      assert.equal(answer.status(), 200);
      assert.equal(new URL(answer.url()).search, '', 'optional parameters are for whoever ticks them');
      assert.equal(await answer.request().headerValue('if-none-match'), null);
      await page.getByText('200 OK').waitFor();
      await page.getByText('Margherita').first().waitFor();
      await check('dialog-answer', IN_DIALOG);
    });

    it('every status of an answer can be seen', async () => {
      await openReference('third-party/tag/restaurant/POST/v1/third-party/orders/');
      const tabs = page.locator('[id$="/POST/v1/third-party/orders/"] .response-card .tab-list');
      const [list, last] = await Promise.all([tabs.boundingBox(), tabs.getByText('503').boundingBox()]);
      assert.ok(list !== null && last !== null);
      assert.ok(last.x + last.width <= list.x + list.width, 'the last one is beyond the edge');
    });

    it('a call can be tried out, an event cannot', async () => {
      await openReference('third-party/tag/webhook/GET/v1/third-party/events/');
      await page.locator('[id$="/GET/v1/third-party/events/"] .show-api-client-button').waitFor();
      await openReference('third-party/tag/events/webhook/POST/order.status-changed');
      const event = page.locator('[id$="/webhook/POST/order.status-changed"]');
      await event.locator('.scalar-card').first().waitFor();
      assert.equal(await event.locator('.show-api-client-button').isVisible(), false);
    });
  });
}

after(async () => {
  if (typeof browser === 'object') await browser.close();
});
