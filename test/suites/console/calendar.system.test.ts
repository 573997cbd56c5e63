import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  book,
  dayAfter,
  dayAhead,
  openChannel,
  openHotel,
  pmsHeaders,
  type TestHotel,
  writePlan,
} from '../../support/hotel.ts';
import { startService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/webhooks.ts';
import { accessibilityViolations, overflowPx, showIn, type WatchedPage } from '../browser/browser.ts';
import { openConsole, PHONE, skip } from './console.ts';

const CALENDAR = '/v1/staff/calendar/';
const weekday = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', weekday: 'short', day: 'numeric', month: 'short' });

const cell = (page: Page, row: string, date: string) =>
  page.getByRole('gridcell', { name: new RegExp(`^${row}, ${weekday.format(new Date(date))}: `) });

async function openCalendar(page: Page, query = ''): Promise<void> {
  await page.goto(`/console/calendar${query}`);
  await page.getByRole('grid').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
}

/** Reads what the calendar of the first property has from a date on. */
async function readCalendar(service: TestService, hotel: TestHotel, from: string, nights: number) {
  const properties = await service.call('GET', '/v1/staff/properties/', { headers: hotel.staff });
  const query = new URLSearchParams({ property_id: properties.body[0].id, from, to: dayAfter(from, nights) });
  const { body } = await service.call('GET', `${CALENDAR}?${query}`, { headers: hotel.staff });
  const types = body.room_types as { name: string; physical_capacity: number; rate_plans: { id: string }[] }[];
  return {
    type: (name: string) => types.find((type) => type.name === name),
    plan: (id = '') =>
      types.flatMap((type) => type.rate_plans).find((plan) => plan.id === id) as unknown as {
        prices: string[];
        is_own: boolean[];
        closed: boolean[];
        base_price: string;
      },
  };
}

describe('the calendar in a browser', { skip }, () => {
  let service: TestService;
  let hotel: TestHotel;
  let pms: Record<string, string>;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    service = await startService();
    hotel = await openHotel(service);
    pms = await pmsHeaders(service, hotel);
    watched = await openConsole(service, hotel);
    page = watched.page;
  });
  after(async () => {
    await watched.close();
    await service.close();
  });

  const planOf = async (name: string, from: string, nights: number) =>
    (await readCalendar(service, hotel, from, nights)).plan(hotel.plans[name]);
  const untilPrices = (name: string, from: string, wanted: string[]) =>
    eventually(
      async () => (await planOf(name, from, wanted.length)).prices.join() === wanted.join(),
      `${name} at ${wanted.join()}`,
    );
  /** The answers 409 by which the console learned of a conflict are expected. */
  const assertProblems = (conflicts = 0) => {
    const problems = watched.problems().filter((problem) => !problem.startsWith('console: Failed to load resource'));
    assert.equal(problems.filter((problem) => problem.startsWith('409: ')).length, conflicts, problems.join('\n'));
    assert.equal(problems.length, conflicts, problems.join('\n'));
  };

  it('a price that is typed for 28 selected nights is written on all of them, and one key undoes it; Escape leaves without a write', async () => {
    const from = dayAhead(40);
    await openCalendar(page, `?from=${from}&nights=28`);
    await cell(page, 'Double, Flexible', from).click();
    await page.keyboard.press('Shift+End');
    await page.keyboard.type('99');
    await page.keyboard.press('Escape');
    await page.keyboard.type('12o');
    const words = page.getByText('Type a price such as 120 or 99.50.');
    await words.waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('textbox', { name: 'Price in EUR' }).fill('€ 120');
    await words.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await untilPrices('Double/Flexible', from, Array(28).fill('120.00'));
    await page.getByText('28 nights at 120').waitFor();
    const last = cell(page, 'Double, Flexible', dayAfter(from, 27));
    await last.and(page.getByRole('gridcell', { name: /: 120, own price$/ })).waitFor();
    await page.keyboard.press('u');
    await untilPrices('Double/Flexible', from, Array(28).fill('100.00'));
    assert.ok((await planOf('Double/Flexible', from, 28)).is_own.every((isOwn) => !isOwn));
    await page.getByRole('button', { name: /^Undo/ }).waitFor({ state: 'hidden' });
    assertProblems();
  });

  it('a wrong price that is left is not saved, and the calendar says so', async () => {
    const from = dayAhead(240);
    await openCalendar(page, `?from=${from}`);
    await cell(page, 'Double, Saver', from).click();
    await page.keyboard.type('12o');
    await cell(page, 'Double, Flexible', from).click();
    await page.getByRole('alert').filter({ hasText: 'Not saved: “12o”' }).waitFor();
    assert.deepEqual((await planOf('Double/Saver', from, 1)).is_own, [false]);
    assertProblems();
  });

  it('the price list on paper has two weeks a table, with what each night costs or that it is closed', async () => {
    const from = dayAhead(200);
    const entry = { date: from, price: 133, is_sold_out: false };
    await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], [entry]);
    await openCalendar(page, `?from=${from}&nights=28`);
    await cell(page, 'Double, Flexible', from)
      .and(page.getByRole('gridcell', { name: /: 133, own price$/ }))
      .waitFor();
    await page.emulateMedia({ media: 'print' });
    // A real `window.print` waits for a person.
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    assert.equal(await page.getByRole('table', { name: /^Prices from / }).count(), 2);
    await page
      .getByRole('table')
      .first()
      .getByRole('row', { name: /^Flexible 133\.00 100\.00/ })
      .first()
      .waitFor();
    assert.equal(await page.getByRole('grid').isVisible(), false);
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    await page.emulateMedia({ media: 'screen' });
    assert.equal(await page.getByRole('table', { name: /^Prices from / }).count(), 0);
  });

  it('a change by the PMS while a price is typed keeps what is typed, and is shown beside it before anything is written', async () => {
    const from = dayAhead(70);
    const typed = cell(page, 'Double, Flexible', from);
    const field = page.getByRole('textbox', { name: 'Price in EUR' });
    await openCalendar(page, `?from=${from}`);
    for (const [keep, wanted] of [
      ['Keep theirs', '111.00'],
      ['Keep mine', '150.00'],
    ] as const) {
      await typed.click();
      await page.keyboard.type('150');
      const entries = [from, dayAfter(from, 1)].map((date) => ({ date, price: keep === 'Keep mine' ? 112 : 111 }));
      await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], entries);
      const next = page.getByRole('gridcell', { name: `: ${entries[0]?.price}, own price` });
      await cell(page, 'Double, Flexible', dayAfter(from, 1)).and(next).waitFor();
      assert.equal(await field.inputValue(), '150');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Changed meanwhile: 1 night' });
      await dialog
        .getByRole('row', { name: new RegExp(`Double, Flexible €150\\.00 €${entries[0]?.price}\\.00$`) })
        .waitFor();
      await dialog.getByRole('button', { name: keep }).click();
      await dialog.waitFor({ state: 'hidden' });
      await untilPrices('Double/Flexible', from, [wanted]);
    }
    assertProblems(2);
  });

  it('bulk shows what would change, and a write of the PMS before the last press is shown, not overwritten', async () => {
    const from = dayAhead(100);
    const to = dayAfter(from, 13);
    await openCalendar(page, `?from=${from}`);
    await cell(page, 'Double, Saver', from).click();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Change many nights' });
    await dialog.getByLabel('Price in EUR').fill('%');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText(/^Type a price such as/).waitFor();
    await dialog.getByLabel('Price in EUR').fill('+10%');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('14 nights change.').waitFor();
    const change = await dialog.getByRole('button', { name: 'Change 14 nights' }).boundingBox();
    assert.ok(change && change.y + change.height < 900, 'the button to press next is in sight');
    await dialog
      .getByRole('row', { name: /Double, Saver €80\.00 base €88\.00$/ })
      .first()
      .waitFor();
    await writePlan(service, pms, 'rates', hotel.plans['Double/Saver'], [{ date: to, price: 70 }]);
    await dialog.getByRole('button', { name: 'Change 14 nights' }).click();
    const conflict = page.getByRole('dialog', { name: 'Changed meanwhile: 1 night' });
    await conflict.getByRole('row', { name: /€88\.00 €70\.00$/ }).waitFor();
    assert.ok(
      (await planOf('Double/Saver', from, 13)).is_own.every((isOwn) => !isOwn),
      'nothing is written yet',
    );
    await conflict.getByRole('button', { name: 'Keep theirs, save the other 13' }).click();
    await untilPrices('Double/Saver', from, [...Array(13).fill('88.00'), '70.00']);
    await page.getByRole('button', { name: /^Undo/ }).click();
    await untilPrices('Double/Saver', from, [...Array(13).fill('80.00'), '70.00']);
    assertProblems(1);
  });

  it('another property shows its own rooms alone, also while they are still on their way', async () => {
    const first = 'Double, Flexible';
    await openCalendar(page);
    const held = Promise.withResolvers<void>();
    await page.route(`**${CALENDAR}*`, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole('combobox', { name: 'Property' }).click();
    await page.getByRole('option').last().click();
    await cell(page, first, dayAhead(1)).waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('button', { name: 'Change many nights' }).count(), 0);
    held.resolve();
    await page.getByRole('grid').waitFor();
    assert.equal(await cell(page, first, dayAhead(1)).count(), 0);
    await page.unrouteAll({ behavior: 'wait' });
    assertProblems();
  });

  it('a night that is closed by the key s cannot be booked by a partner until the line of its room type opens it again', async () => {
    const from = dayAhead(130);
    const stay = { room_type_id: hotel.roomTypes['Suite'], check_in: from, check_out: dayAfter(from, 1) };
    await openCalendar(page, `?from=${from}`);
    const night = cell(page, 'Suite, Suite rate', from);
    await night.click();
    await page.keyboard.press('s');
    await night.and(page.getByRole('gridcell', { name: /closed$/ })).waitFor();
    await eventually(async () => (await planOf('Suite/Suite rate', from, 1)).closed[0] === true, 'a closed night');
    assert.equal((await book(service, hotel, stay)).status, 409);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('s');
    await eventually(async () => (await planOf('Suite/Suite rate', from, 1)).closed[0] === false, 'an open night');
    assert.equal((await book(service, hotel, stay)).status, 201);
    await cell(page, 'Suite', from)
      .and(page.getByRole('gridcell', { name: /: Full 1\/1 held$/ }))
      .waitFor();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Change many nights' });
    await dialog.getByText('Suite, Suite rate', { exact: true }).waitFor();
    assert.equal(await dialog.getByLabel('Price in EUR').inputValue(), '');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    assertProblems();
  });

  it('a night that an OTA oversells says so, and names the booking that came after the last room; Today says it too', async () => {
    const from = dayAhead(160);
    const stay = { room_type_id: hotel.roomTypes['Suite'], check_in: from, check_out: dayAfter(from, 1) };
    assert.equal(
      (await book(service, hotel, { ...stay, guest: { name: 'First Guest', phone: '+351 1' } })).status,
      201,
    );
    const send = await openChannel(service, hotel);
    await openCalendar(page, `?from=${from}`);
    assert.equal((await send({ ...stay, guest: { full_name: 'Late Guest' } })).status, 201);
    const night = cell(page, 'Suite', from);
    await night.and(page.getByRole('gridcell', { name: /: 1 over 2\/1 held, oversold$/ })).click();
    const drawer = page.getByRole('dialog', { name: /^Suite, / });
    const stays = drawer.getByRole('table', { name: 'Stays' });
    const late = stays.getByRole('link', { name: 'Late Guest' });
    await late.waitFor();
    assert.match((await late.getAttribute('href')) ?? '', /^\/console\/stays\?open=[\da-f-]{36}$/);
    const rows = (await stays.getByRole('row').allInnerTexts()).slice(1).map((text) => text.split('\t')[0]);
    assert.deepEqual(rows, ['Booked after the last room', 'Late Guest', 'Booked before', 'First Guest']);
    await drawer
      .getByRole('listitem')
      .filter({ hasText: /^Booked\s*by an-ota.*2 held, after the last room/ })
      .waitFor();
    await page.goBack();
    await drawer.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('link', { name: /^Suite is oversold on 1 night/ }).click();
    await late.waitFor();
    assertProblems();
  });

  it('by keyboard alone: to the calendar, a price with Tab to the next night, the number of rooms, the night', async () => {
    await page.goto('/console/');
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('grid').waitFor();
    const isInGrid = () => page.evaluate('document.activeElement.closest("[role=grid]") !== null');
    for (let count = 0; count < 40 && !(await isInGrid()); count += 1) {
      await page.keyboard.press('Tab');
    }
    const from = await page.evaluate('new Date().toLocaleDateString("en-CA", { timeZone: "Europe/Lisbon" })');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('61');
    await page.keyboard.press('Tab');
    await page.keyboard.type('62,5');
    await page.keyboard.press('Enter');
    await untilPrices('Double/Saver', String(from), ['61.00', '62.50', '80.00']);
    await page.keyboard.press('=');
    await untilPrices('Double/Saver', String(from), ['61.00', '80.00']);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /^Double, / }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: /^Double, / }).waitFor({ state: 'hidden' });
    await eventually(async () => (await isInGrid()) === true, 'the focus in the grid');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Double' });
    await dialog.getByLabel('Rooms').fill('');
    assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'an empty field is not 0 rooms');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('rowheader', { name: 'Double 4 rooms' }).waitFor();
    assert.equal((await readCalendar(service, hotel, dayAhead(30), 1)).type('Double')?.physical_capacity, 4);
    assertProblems();
  });

  it('by thumb on a phone: a tap selects a night, whose price is typed, saved and undone by buttons', async () => {
    const phone = await openConsole(service, hotel, { options: PHONE });
    try {
      const from = dayAhead(220);
      await openCalendar(phone.page, `?from=${from}`);
      await cell(phone.page, 'Double, Saver', from).tap();
      await phone.page.getByRole('textbox', { name: 'Price in EUR' }).fill('75');
      await phone.page.getByRole('button', { name: 'Save', exact: true }).tap();
      await untilPrices('Double/Saver', from, ['75.00', '80.00']);
      await phone.page.getByRole('button', { name: /^Undo/ }).tap();
      await untilPrices('Double/Saver', from, ['80.00', '80.00']);
      await phone.page.getByRole('button', { name: 'Night', exact: true }).tap();
      await phone.page
        .getByRole('dialog', { name: /^Double, / })
        .getByText('Price changed')
        .first()
        .waitFor();
      assert.deepEqual(phone.problems(), []);
    } finally {
      await phone.close();
    }
  });

  it('staff without the area rates look at prices, and no key changes one; a phone fits it, in both colour schemes', async () => {
    const other = await openConsole(service, hotel, { role: 'staff', options: PHONE });
    try {
      const from = dayAhead(190);
      await openCalendar(other.page, `?from=${from}&night=none`);
      await other.page.getByText('Read only. An owner can give you the area Room prices.').waitFor();
      await cell(other.page, 'Double, Flexible', from).click();
      for (const key of ['1', 'Enter', 's', '=', 'b']) {
        await other.page.keyboard.press(key);
      }
      await cell(other.page, 'Double', from).click();
      await other.page
        .getByRole('dialog', { name: /^Double, / })
        .getByText('Nobody.')
        .waitFor();
      const { is_own, closed } = await planOf('Double/Flexible', from, 1);
      assert.deepEqual([is_own, closed], [[false], [false]]);
      assert.equal(await other.page.getByRole('button', { name: 'Change many nights' }).count(), 0);
      assert.ok((await overflowPx(other.page)) <= 0);
      for (const scheme of ['light', 'dark'] as const) {
        await showIn(other.page, scheme);
        assert.deepEqual(await accessibilityViolations(other.page, { onlyColors: scheme === 'dark' }), []);
      }
      assert.deepEqual(other.problems(), []);
    } finally {
      await other.close();
    }
  });
});
