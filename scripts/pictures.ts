/**
 * Takes the pictures of the guide of the console: `npm run pictures -- LINK`. LINK is what `npm start` of a new demo has printed. The demo
 * gets guests, and one of its partners a receiver that does not exist.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIResponse, Page } from 'playwright-core';
import type { PICTURE_NAMES } from '#developer/docs/guides.ts';
import { findBrowser } from '../test/suites/browser/browser.ts';

const FOLDER = join(import.meta.dirname, '../docs/guides/console');
/** In each of these minutes, fifty guests book. */
const MINUTES = 3;
const DAY_MS = 86_400_000;
/** Orders in turn; undefined stays as it is. */
const STATUSES = [undefined, 'preparing', 'out_for_delivery', 'ready', 'confirmed', undefined];
const SETTLED_AFTER_MS = 3_000;
const [DESKTOP, BOARD, WALL, PHONE] = [
  { width: 1280, height: 800 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
  { width: 390, height: 780 },
];

type Picture = [name: (typeof PICTURE_NAMES)[number], path: string, size?: { width: number; height: number }];

async function main(link: string): Promise<void> {
  const browser = await findBrowser();
  if (typeof browser === 'string') {
    throw new TypeError(browser);
  }
  const watched = await browser.open({ baseURL: new URL(link).origin, viewport: DESKTOP });
  const { page } = watched;
  await page.goto(link);
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  const partnerId = await makeLively(page);
  await page.goto('/console/orders');
  await page.getByRole('button', { name: 'Mute' }).click();
  const pictures: Picture[] = [
    ['today', ''],
    ['board', 'orders', BOARD],
    ['kitchen', 'orders?view=kitchen&day=on', WALL],
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
  await watched.close();
}

/**
 * Fills the demo: guests, orders of each status, prices of weekends, closed nights.
 * @returns the id of the partner whose deliveries fail
 */
async function makeLively(page: Page): Promise<string> {
  const call = async (method: string, path: string, data?: object) => {
    const headers = { 'x-roomservice-console': '1' };
    const answer = await page.request.fetch(`/v1/staff/${path}`, { method, headers, ...(data && { data }) });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
    return await answer.json();
  };
  await call('POST', 'sandbox/traffic/', { orders: 1 });
  let guests: { id: string; label: string } | undefined;
  while (guests === undefined) {
    await sleep(1_000);
    guests = (await call('GET', 'credentials/')).find(({ label }: { label: string }) => label === 'Demo guests');
  }
  await call('POST', `credentials/${guests.id}/webhook/`, { webhook_url: 'https://localhost:19999/webhooks' });
  for (let minute = 0; minute < MINUTES; minute += 1) {
    await call('POST', 'sandbox/traffic/', { orders: 6, stays: 50 });
    await sleep(60_000);
  }
  await call('PATCH', 'rates/', { changes: await weekendPrices(call) });
  await call('POST', 'sandbox/traffic/', { orders: 30 });
  await sleep(15_000);
  const { results: orders } = await call('GET', 'orders/?open=true&order=oldest&limit=100');
  for (const [index, { order_id: id, status }] of orders.entries()) {
    const wanted = STATUSES[index % STATUSES.length];
    if (wanted !== undefined && status !== wanted) {
      await call('POST', `orders/${id}/status/`, { status: wanted }).catch(() => {}); // The simulated kitchen may have moved it further.
    }
  }
  return guests.id;
}

/** Weekends cost more, and one plan is closed for some nights. */
async function weekendPrices(call: (method: string, path: string) => ReturnType<APIResponse['json']>) {
  const [property] = await call('GET', 'properties/');
  const from = new Date().toISOString().slice(0, 10);
  const to = new Date(Date.now() + 28 * DAY_MS).toISOString().slice(0, 10);
  const { room_types: types } = await call('GET', `calendar/?property_id=${property.id}&from=${from}&to=${to}`);
  return types.flatMap(({ rate_plans: plans }: { rate_plans: { id: string; base_price: string }[] }, row: number) =>
    plans.flatMap(({ id, base_price: base }, line) =>
      Array.from({ length: 28 }, (_, night) => new Date(Date.parse(from) + night * DAY_MS))
        .map((date) => ({
          rate_plan_id: id,
          date: date.toISOString().slice(0, 10),
          price: [5, 6].includes(date.getUTCDay()) ? `${Math.round(Number(base) * 1.15)}.00` : null,
          is_sold_out: row === 1 && line === 2 && [2, 3, 4].includes(date.getUTCDay()),
        }))
        .filter(({ price, is_sold_out: isClosed }) => price !== null || isClosed),
    ),
  );
}

const [link] = process.argv.slice(2);
if (link === undefined || !URL.canParse(link)) {
  console.error('Usage: npm run pictures -- LINK, where LINK is the link to the console that the start has printed.');
  process.exitCode = 2;
} else {
  await main(link);
}
