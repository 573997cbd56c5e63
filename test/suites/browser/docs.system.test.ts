import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { DOCUMENTS } from '#developer/docs/api-documents.ts';
import { GUIDE_NAMES } from '#developer/docs/guides.ts';
import { startService, type TestService, type TestTenant } from '../../support/service.ts';
import {
  type AccessibilityCheck,
  accessibilityViolations,
  findBrowser,
  overflowPx,
  showIn,
  type WatchedPage,
} from './browser.ts';

const browser = await findBrowser();
const skip = typeof browser === 'string' && browser;

/** Folder for a screenshot of each page. Undefined: no screenshots. */
const SCREENSHOTS = process.env['SCREENSHOTS'];
const DEVICES = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];
/**
 * Limits the check to the open dialog, because other tests check the page behind the dialog. One rule is disabled, because it counts the
 * `main` elements of the whole page even if the check is limited. While the dialog is open, the page has two `main` elements. The reason
 * is that Scalar, which renders the API reference, does not hide the page behind the dialog.
 */
const IN_DIALOG = { within: '[role=dialog]', disabledRules: ['landmark-no-duplicate-main'] };

for (const [device, options] of Object.entries(DEVICES)) {
  describe(`the documentation site in a browser, on a ${device}`, { skip }, () => {
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
      page.setDefaultTimeout(120_000);
    });
    after(async () => {
      await watched.close();
      await service.close();
    });

    /**
     * Asserts that the page, or a part of the page, is accessible in each colour scheme. Asserts that the page is not wider than the window
     * and reports no problems. In the second colour scheme, only the rules that depend on colours are checked, because the schemes differ
     * only in their colours.
     */
    async function check(name: string, part: AccessibilityCheck = {}, schemes: readonly Scheme[] = SCHEMES) {
      for (const [index, colorScheme] of schemes.entries()) {
        await showIn(page, colorScheme);
        if (SCREENSHOTS !== undefined) {
          await page.screenshot({ path: join(SCREENSHOTS, `${name}-${device}-${colorScheme}.png`) });
        }
        const violations = await accessibilityViolations(page, { ...part, onlyColors: index > 0 });
        assert.deepEqual(violations, [], `${name} ${colorScheme}`);
      }
      assert.ok((await overflowPx(page)) <= 0, `${name} is wider than the window`);
      assert.deepEqual(watched.problems(), [], name);
    }

    /** Opens the API reference of an OpenAPI document, and waits until it is rendered. */
    async function openReference(name: string) {
      await page.goto('about:blank');
      await page.goto(`/docs/#${name}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
    }

    /** Goes to another part of the document that is already open, as a link in the page does. */
    async function goTo(part: string) {
      await page.evaluate(`location.hash = ${JSON.stringify(part)}`);
    }

    it('each guide and the index of guides are accessible, fit the window and load without problems', async () => {
      for (const name of ['', ...GUIDE_NAMES.map((guide) => `${guide}/`)]) {
        await page.goto(`/docs/guides/${name}`);
        await check(`guide-${name.replace('/', '') || 'index'}`);
      }
    });

    it('the page for an unknown address is accessible and fits the window', async () => {
      await page.goto('/docs/none/');
      // The 404 itself.
      watched.problems();
      await check('unknown');
    });

    it('the API reference of each document is accessible, fits the window and loads without problems, also after scrolling', async () => {
      for (const { name } of DOCUMENTS) {
        await openReference(name);
        // Scalar renders a section of the page only when the section is in view, so the test scrolls down.
        for (let screen = 0; screen < 20; screen++) {
          await page.evaluate('window.scrollBy(0, 1500)');
          await page.waitForTimeout(50);
        }
        await page.evaluate('window.scrollTo(0, 0)');
        // These tests run on two devices, a phone and a desktop. The API references of all documents consist of the same components. So
        // only the third-party reference is checked in both colour schemes on each device. The other references are checked only in the
        // dark scheme on the phone, and only in the light scheme on the desktop.
        await check(
          `reference-${name}`,
          {},
          name === 'third-party' ? SCHEMES : [device === 'phone' ? 'dark' : 'light'],
        );
      }
    });

    it('a reader of the API reference can switch from the third-party API to the PMS API', async () => {
      await openReference('third-party');
      if (device === 'phone') {
        await page.getByRole('region', { name: 'Place in the document' }).getByRole('button').click();
      }
      await page.getByRole('button', { name: 'Third-party API' }).filter({ visible: true }).click();
      await check('reference-choice', { within: '[role=listbox]' });
      await page.getByRole('option', { name: 'PMS API' }).click();
      await page.getByRole('heading', { level: 1, name: /PMS/ }).waitFor();
      assert.deepEqual(watched.problems(), []);
    });

    describe('the third-party reference', () => {
      // One page for all these tests, because it takes seconds to render the reference.
      before(() => openReference('third-party'));

      it('the tabs for all response statuses of an operation fit into the tab bar', async () => {
        await goTo('third-party/tag/restaurant/POST/v1/third-party/orders/');
        const tabs = page.locator('[id$="/POST/v1/third-party/orders/"] .response-card .tab-list');
        await tabs.getByText('503').waitFor();
        const [list, last] = await Promise.all([tabs.boundingBox(), tabs.getByText('503').boundingBox()]);
        assert.ok(list !== null && last !== null);
        assert.ok(last.x + last.width <= list.x + list.width, 'the last tab is beyond the edge of the list');
      });

      it('the API reference has a button to try out an operation, but no such button for a webhook event', async () => {
        await goTo('third-party/tag/webhook/GET/v1/third-party/events/');
        await page.locator('[id$="/GET/v1/third-party/events/"] .show-api-client-button').waitFor();
        await goTo('third-party/tag/events/webhook/POST/order.status-changed');
        const event = page.locator('[id$="/webhook/POST/order.status-changed"]');
        await event.locator('.scalar-card').first().waitFor();
        assert.equal(await event.locator('.show-api-client-button').isVisible(), false);
      });

      it('200: a reader of the API reference can try out a call with a real credential, and sees the response', async () => {
        await goTo('third-party/tag/restaurant/GET/v1/third-party/menu/');
        const [key, secret] = [tenant.credential.api_key, tenant.credential.api_secret];
        await page.getByLabel('Value').and(page.locator('input')).nth(0).fill(key);
        await page.getByLabel('Value').and(page.locator('input')).nth(1).fill(secret);
        await page.getByRole('button', { name: /Test Request.*third-party\/menu/ }).click();
        await check('dialog', IN_DIALOG);
        const answered = page.waitForResponse('**/v1/third-party/menu/**');
        await page.getByRole('button', { name: /^Send/ }).first().click();
        const answer = await answered;
        assert.equal(answer.status(), 200);
        assert.equal(
          new URL(answer.url()).search,
          '',
          'the call contains optional parameters that the reader did not select',
        );
        assert.equal(await answer.request().headerValue('if-none-match'), null);
        await page.getByText('200 OK').waitFor();
        await page.getByText('Margherita').first().waitFor();
        await check('dialog-answer', IN_DIALOG);
      });
    });
  });
}
