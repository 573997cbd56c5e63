import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { TestService, TestTenant } from '../../support/service.ts';
import { findBrowser, type WatchedPage } from '../browser/browser.ts';

export const browser = await findBrowser();
/** Reason to skip journeys, or false. */
export const skip = typeof browser === 'string' && browser;

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Opens the console as a user of the tenant who has just signed in, on Today. */
export async function openConsole(
  service: TestService,
  tenant: TestTenant,
  { role = 'owner', options = DESKTOP }: { role?: 'owner' | 'staff'; options?: BrowserContextOptions } = {},
): Promise<WatchedPage> {
  assert.ok(typeof browser === 'object');
  const watched = await browser.open({ ...options, baseURL: service.url });
  const { page } = watched;
  page.setDefaultTimeout(30_000);
  await page.goto('/console/');
  const user = tenant.document.users?.find((each) => each.role === role);
  assert.ok(user);
  await signIn(page, user.email, user.password ?? '');
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  // The 401 by which the page learned that nobody had signed in.
  watched.problems();
  return watched;
}

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Opens the board in a browser of its own. @param script runs in the page before all else */
export async function openBoard(baseURL: string, email: string, password: string, script = ''): Promise<WatchedPage> {
  assert.ok(typeof browser === 'object');
  const watched = await browser.open({ ...DESKTOP, baseURL });
  const { page } = watched;
  page.setDefaultTimeout(20_000);
  await page.addInitScript(script);
  await page.goto('/console/sign-in?to=/orders');
  await signIn(page, email, password);
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  return watched;
}

export const cardIn = (page: Page, column: string, number: string) =>
  page.getByRole('region', { name: column, exact: true }).getByRole('article', { name: `Order ${number}` });
