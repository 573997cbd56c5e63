/**
 * Takes the pictures of the guide of the console: `npm run pictures -- LINK`. LINK is what `npm start` of a new demo has printed. The demo
 * gets guests, and one of its partners a receiver that does not exist.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { PICTURE_NAMES } from '#developer/docs/guides.ts';
import { findBrowser } from '../test/suites/browser/browser.ts';

const FOLDER = join(import.meta.dirname, '../docs/guides/console');
/** After this time, orders of each status are on the board, and deliveries have failed. */
const LIVELY_AFTER_MS = 100_000;
const SETTLED_AFTER_MS = 3_000;
const [DESKTOP, PHONE] = [
  { width: 1280, height: 800 },
  { width: 390, height: 780 },
];

type Picture = [name: (typeof PICTURE_NAMES)[number], path: string, size?: { width: number; height: number }];

async function main(link: string): Promise<void> {
  const browser = await findBrowser();
  if (typeof browser === 'string') {
    throw new TypeError(browser);
  }
  const { page, close } = await browser.open({ baseURL: new URL(link).origin, viewport: DESKTOP });
  await page.goto(link);
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  const partnerId = await makeLively(page);
  const pictures: Picture[] = [
    ['today', ''],
    ['board', 'orders'],
    ['kitchen', 'orders?kitchen=on&day=on'],
    ['stays', 'stays'],
    ['calendar', 'calendar?nights=28'],
    ['menu', 'menu'],
    ['partner', `partners?open=${partnerId}`],
    ['deliveries', 'deliveries'],
    ['phone', 'orders', PHONE],
  ];
  for (const [name, path, size = DESKTOP] of pictures) {
    await page.setViewportSize(size);
    await page.goto(`/console/${path}`);
    await sleep(SETTLED_AFTER_MS);
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  }
  await close();
}

/** @returns the id of the partner whose deliveries fail */
async function makeLively(page: Page): Promise<string> {
  const headers = { 'x-roomservice-console': '1' };
  const post = async (path: string, data: object) => {
    const answer = await page.request.post(path, { headers, data });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  };
  await post('/v1/staff/sandbox/traffic/', { orders: 1 });
  let guests: { id: string; label: string } | undefined;
  while (guests === undefined) {
    await sleep(1_000);
    const answer = await page.request.get('/v1/staff/credentials/', { headers });
    guests = ((await answer.json()) as { id: string; label: string }[]).find(({ label }) => label === 'Demo guests');
  }
  await post(`/v1/staff/credentials/${guests.id}/webhook/`, { webhook_url: 'https://localhost:19999/webhooks' });
  await post('/v1/staff/sandbox/traffic/', { orders: 30, stays: 50 });
  await sleep(LIVELY_AFTER_MS);
  return guests.id;
}

const [link] = process.argv.slice(2);
if (link === undefined || !URL.canParse(link)) {
  console.error('Usage: npm run pictures -- LINK, where LINK is the link to the console that the start has printed.');
  process.exitCode = 2;
} else {
  await main(link);
}
