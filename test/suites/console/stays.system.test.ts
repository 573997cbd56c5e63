import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { todayIn } from '#platform/lib/dates.ts';
import {
  book,
  bookForHouse,
  dayAfter,
  openHotel,
  sellable,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '../../support/hotel.ts';
import { entriesOf } from '../../support/lists.ts';
import { invite, newEmail, NEW_PASSWORD, tokenOf } from '../../support/people.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { OWNER_PASSWORD } from '../../support/tenants.ts';
import { register } from '../../support/webhooks.ts';
import { accessibilityViolations, type WatchedPage } from '../browser/browser.ts';
import { browser, DESKTOP, openConsole, skip } from './console.ts';

describe('the stays in a browser', { skip }, () => {
  let service: TestService;
  let hotel: TestHotel;
  let watched: WatchedPage;
  let page: Page;
  let receiver: Receiver;
  let today: string;
  before(async () => {
    service = await startService({ worker: { pollEveryMs: 100 } });
    hotel = await openHotel(service);
    receiver = await startReceiver();
    await register(service, hotel.partner, receiver.url);
    watched = await openConsole(service, hotel);
    page = watched.page;
    today = todayIn('Europe/Lisbon');
  });
  after(async () => {
    await watched.close();
    await receiver.close();
    await service.close();
  });

  const read = async (id: string) =>
    (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: hotel.staff })).body;
  const named = async (name: string) =>
    await entriesOf(service, `${STAFF_RESERVATIONS}?name=${encodeURIComponent(name)}`, hotel.staff);
  const sellableNow = async (days = 2) =>
    await sellable(service, hotel, hotel.roomTypes['Double'], today, dayAfter(today, days));
  /** Books a stay from today on as the partner. @returns its id */
  const arriving = async (name: string, changes: Record<string, unknown> = {}): Promise<string> => {
    const guest = { name, phone: '+351 912 000 000' };
    const dates = { check_in: today, check_out: dayAfter(today, 2) };
    const { status, text, body } = await book(service, hotel, { ...dates, guest, ...changes });
    assert.equal(status, 201, text);
    return body.reservation_id;
  };
  const cancel = async (id: string) => {
    const json = { status: 'cancelled' };
    await service.call('POST', `${STAFF_RESERVATIONS}${id}/status/`, { headers: hotel.staff, json });
  };
  const openStays = async (path = '') => {
    await page.goto(`/console/stays${path}`);
    await page.getByRole('heading', { level: 1, name: 'Stays' }).waitFor();
  };
  const row = (name: string, on = page) => on.getByRole('row', { name });
  const drawer = (name: string, on = page) => on.getByRole('dialog', { name });

  it('an arrival is reported from its row, comes after those to come, and is taken back', async () => {
    const [first, second] = [await arriving('Alva Arriving'), await arriving('Bruno Arriving')];
    await openStays();
    const names = async () => (await page.getByRole('row').allInnerTexts()).slice(1).map((text) => text.split(/\s/)[0]);
    await row('Bruno Arriving').waitFor();
    assert.deepEqual(await names(), ['Alva', 'Bruno']);
    await page.getByRole('button', { name: 'Arrived: Alva Arriving' }).click();
    const undo = page.getByRole('button', { name: 'Undo: Alva Arriving' });
    await undo.waitFor();
    assert.deepEqual(await names(), ['Bruno', 'Alva']);
    assert.ok((await read(first)).arrived_at !== null);
    await undo.click();
    await page.getByRole('button', { name: 'Arrived: Alva Arriving' }).waitFor();
    assert.equal((await read(first)).arrived_at, null);
    assert.deepEqual(watched.problems(), []);
    await Promise.all([cancel(first), cancel(second)]);
  });

  it('a guest who does not come is a no-show, and the nights stay held; the stay is cancelled, and they are free again', async () => {
    const free = await sellableNow();
    const id = await arriving('Carla Missing');
    const held = free.map((rooms) => rooms - 1);
    await openStays();
    await row('Carla Missing').click();
    const stay = drawer('Carla Missing');
    await stay.getByRole('button', { name: 'No-show…' }).click();
    const asked = page.getByRole('dialog', { name: 'Carla Missing did not come?' });
    await asked.getByText(/The room stays held until .* A platform is told at once/).waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'hidden' });
    await stay.getByRole('button', { name: 'No-show…' }).click();
    await asked.getByRole('button', { name: 'No-show' }).click();
    await stay.getByRole('button', { name: 'No-show…' }).waitFor({ state: 'hidden' });
    assert.equal((await read(id)).status, 'no_show');
    assert.deepEqual(await sellableNow(), held);

    await stay.getByRole('button', { name: 'Cancel…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Cancel .* of Carla Missing\?/ });
    await dialog.getByText(/Its nights are free at once: .*, 2 nights\./).waitFor();
    await dialog.getByLabel('Reason').fill('The guest called.');
    await dialog.getByRole('button', { name: 'Cancel the stay' }).click();
    await stay.getByText('The guest called.').waitFor();
    for (const event of ['Booked', 'No-show', 'Cancelled']) {
      const told = stay.getByRole('listitem').filter({ has: page.getByRole('link', { name: event }) });
      await told.getByText('Delivered').waitFor();
    }
    const { status, history } = await read(id);
    assert.equal(status, 'cancelled');
    assert.deepEqual(
      history.map((step: { status: string }) => step.status),
      ['confirmed', 'no_show', 'cancelled'],
    );
    assert.deepEqual(await sellableNow(), free);
    assert.deepEqual(watched.problems(), []);
  });

  it('a stay is found by phone, e-mail, name, reference and the partner’s id, whatever the view', async () => {
    const guest = { name: 'Désirée Found', phone: '+351 933 444 555', email: 'desiree@guests.example' };
    const dates = { check_in: dayAfter(today, 40), check_out: dayAfter(today, 42) };
    const id = await arriving('', { ...dates, guest, external_reservation_id: 'CD STAY 77' });
    const { natural_id: reference } = await read(id);
    await openStays('?view=house');
    await page.getByRole('heading', { level: 1 }).click();
    const said = ['00351 933-444-555', 'Desiree@Guests.example', 'desiree f', reference.replace('-', '').toLowerCase()];
    for (const text of [...said, 'CD STAY 77']) {
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await drawer('Désirée Found').getByText(guest.email).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('open'), id, text);
      await page.keyboard.press('Escape');
      await drawer('Désirée Found').waitFor({ state: 'hidden' });
    }
    const near = await arriving('Rita de Nearby', { guest: { name: 'Rita de Nearby', phone: '+351 944 555 666' } });
    const nearReference = (await read(near)).natural_id.replace('-', ' - ').toLowerCase();
    for (const text of ['de nearby', '44 555', nearReference]) {
      await page.getByLabel('Find a stay').fill('nobody of this name');
      await page.getByText('Nothing found for “nobody of this name”.').waitFor();
      await page.getByLabel('Find a stay').fill(text);
      await row('Rita de Nearby').waitFor();
    }
    await cancel(near);
    await page.getByLabel('Find a stay').fill('nobody of this name');
    await page.getByText('Nothing found for “nobody of this name”.').waitFor();
    assert.deepEqual(watched.problems(), []);
  });

  it('by the keyboard alone from g s to a saved walk-in, with the quote that is then charged', async () => {
    await page.goto('/console/');
    await page.getByRole('heading', { level: 1, name: 'Today' }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { level: 1, name: 'Stays' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New stay' });
    await dialog.getByText('€100.00').first().waitFor();
    await page.keyboard.type('Wanda Walker');
    await page.keyboard.press('Enter');
    const booked = drawer('Wanda Walker, ');
    await booked.getByText('€100.00', { exact: false }).first().waitFor();
    const [stay, ...others] = await named('Wanda Walker');
    assert.deepEqual(others, []);
    const { source, check_in, check_out, total_amount: total, natural_id: reference } = stay;
    const expected = ['house', today, dayAfter(today, 1), '100.00'];
    assert.deepEqual([source, check_in, check_out, total], expected);
    await booked.getByText(reference, { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await booked.waitFor({ state: 'hidden' });
    await row('Wanda Walker').waitFor();
    assert.deepEqual(watched.problems(), []);
  });

  it('a walk-in that is pressed twice, and whose first answer is lost, is one stay', async () => {
    await openStays('?new=1');
    const dialog = page.getByRole('dialog', { name: 'New stay' });
    await dialog.getByLabel('Name of the guest').fill('Olga Once');
    const answers: number[] = [];
    await page.route(`**${STAFF_RESERVATIONS}`, async (route) => {
      if (route.request().method() !== 'POST') return await route.continue();
      const response = await route.fetch();
      answers.push(response.status());
      await (answers.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await dialog.getByRole('button', { name: 'Book' }).dblclick();
    await drawer('Olga Once').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    assert.deepEqual(answers, [201, 200]);
    assert.equal((await named('Olga Once')).length, 1);
    watched.problems();
  });

  it('a new stay says that the service does not answer, keeps what is typed, and goes on by itself', async () => {
    await page.route('**/v1/staff/calendar/?*', (route) => route.abort());
    await openStays('?new=1');
    const dialog = page.getByRole('dialog', { name: 'New stay' });
    await dialog.getByLabel('Name of the guest').fill('Otto Offline');
    await dialog.getByText('Roomservice does not answer.', { exact: false }).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Book' }).isDisabled(), true);
    await page.unrouteAll({ behavior: 'wait' });
    await dialog.getByText('€100.00').first().waitFor();
    assert.equal(await dialog.getByLabel('Name of the guest').inputValue(), 'Otto Offline');
    watched.problems();
  });

  it('if the session ends while a stay is typed, the password is asked over the form, which keeps what is typed', async () => {
    await page.goto('/console/');
    await page.getByRole('link', { name: 'Stays' }).click();
    await page.getByRole('button', { name: 'New stay' }).click();
    const dialog = page.getByRole('dialog', { name: 'New stay' });
    await dialog.getByLabel('Name of the guest').fill('Karl Kept');
    await dialog.getByText('€100.00').first().waitFor();
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Book' }).click();
    const password = page.getByRole('dialog', { name: 'Your session has ended' });
    await password.getByLabel('Password', { exact: true }).press('Escape');
    await password.getByLabel('Password', { exact: true }).fill(OWNER_PASSWORD);
    // It can only be pressed if it is above the form.
    await password.getByRole('button', { name: 'Go on' }).click({ timeout: 5_000 });
    await drawer('Karl Kept').waitFor();
    const [stay, ...others] = await named('Karl Kept');
    assert.deepEqual(others, []);
    watched.problems();
    await cancel(stay.reservation_id);
  });

  it('a name of one long word leaves the other columns in sight', async () => {
    const id = await arriving('G'.repeat(140));
    await openStays();
    const next = page.getByRole('button', { name: /^Arrived: G+$/ });
    await next.waitFor();
    const { x = 0, width = 0 } = (await next.boundingBox()) ?? {};
    assert.ok(x + width < 1_440, `The button of the row ends at ${x + width} px.`);
    await cancel(id);
  });

  it('a new stay says which rooms are left only when both days are chosen, why it cannot be so long, and counts guests as typed', async () => {
    await openStays('?new=1&day=2027-02-30');
    const dialog = page.getByRole('dialog', { name: 'New stay' });
    const options = dialog.getByLabel('Room type').locator('option');
    await options.filter({ hasText: 'left' }).first().waitFor({ state: 'attached' });
    const guests = dialog.getByLabel('Guests');
    await guests.fill('2');
    await guests.press('Backspace');
    assert.ok(await dialog.getByRole('button', { name: 'Book' }).isDisabled());
    await guests.press('3');
    assert.equal(await guests.inputValue(), '3');
    assert.deepEqual(watched.problems(), [], '30 February is no day, so the screen shows today');
    await dialog.getByRole('button', { name: /^Arrival and departure/ }).click();
    await page.getByRole('button', { name: 'Next month' }).click();
    await page.getByRole('button', { name: /^10 / }).click();
    await options.filter({ hasText: 'left' }).first().waitFor({ state: 'detached' });
    for (let count = 0; count < 15; count += 1) await page.getByRole('button', { name: 'Next month' }).click();
    await page.getByRole('button', { name: /^20 / }).click();
    await dialog
      .getByText('These nights have no price. The last day must be at most 400 nights after the first.')
      .waitFor();
    // The refusals of all properties.
    await page.goto('about:blank');
    watched.problems();
  });

  it('a full night is said in words, and is overbooked only by a second choice', async () => {
    const dates = { check_in: dayAfter(today, 20), check_out: dayAfter(today, 21) };
    const room_type_id = hotel.roomTypes['Suite'];
    assert.equal((await bookForHouse(service, hotel, { ...dates, room_type_id })).status, 201);
    const own = await bookForHouse(service, hotel, { ...dates, guest: { name: 'Sven Suite' } });
    await openStays(`?open=${own.body.reservation_id}`);
    await drawer('Sven Suite').getByRole('button', { name: 'Change…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Change .* of Sven Suite/ });
    await dialog.getByLabel('Room type').selectOption(room_type_id ?? '');
    await dialog.getByText(/^No Suite is left on/).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Save the change' }).isDisabled(), true);
    await dialog.getByLabel('Change it all the same').check();
    await dialog.getByText('The house then has more guests than rooms', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Overbook' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await drawer('Sven Suite').getByText('€250.50').first().waitFor();
    const { room_type_id: type, total_amount: total } = await read(own.body.reservation_id);
    assert.deepEqual([type, total], [room_type_id, '250.50']);
    assert.deepEqual(watched.problems(), []);
  });

  it('a partner’s stay ends early, and its later nights are free', async () => {
    const id = await arriving('Ende Early', { check_out: dayAfter(today, 3) });
    const held = await sellableNow(3);
    await openStays(`?open=${id}`);
    await drawer('Ende Early').getByRole('button', { name: 'End early…' }).click();
    await page.getByRole('button', { name: 'End the stay early' }).click();
    await drawer('Ende Early')
      .getByText(/1 night$/)
      .waitFor();
    const [first = 0, second = 0, third = 0] = held;
    assert.deepEqual(await sellableNow(3), [first, second + 1, third + 1]);
    assert.equal((await read(id)).check_out, dayAfter(today, 1));
    assert.deepEqual(watched.problems(), []);
    await cancel(id);
  });

  it('of two people at once, the second one is told who was first, and sees the stay as it is', async () => {
    const id = await arriving('Twice Touched');
    const other = await openConsole(service, hotel, { role: 'staff' });
    try {
      for (const each of [page, other.page]) {
        await each.goto(`/console/stays?open=${id}`);
        await drawer('Twice Touched', each).getByRole('button', { name: 'No-show…' }).click();
        await each.getByRole('dialog', { name: 'Twice Touched did not come?' }).waitFor();
      }
      await page.getByRole('button', { name: 'No-show', exact: true }).click();
      await drawer('Twice Touched').getByRole('button', { name: 'No-show…' }).waitFor({ state: 'hidden' });
      await other.page.getByRole('button', { name: 'No-show', exact: true }).click();
      await other.page.getByText(/^owner@.* was first\. The stay is no-show now\.$/).waitFor();
      assert.equal((await read(id)).history.length, 2);
    } finally {
      await other.close();
    }
    assert.deepEqual(watched.problems(), []);
    await cancel(id);
  });

  it('p prints the list of the day on one white sheet with the guests’ phones, and without buttons', async () => {
    const id = await arriving('Pia Paper');
    await openStays();
    await row('Pia Paper').waitFor();
    await page.evaluate('window.print = () => { window.isPrinted = true }');
    await page.keyboard.press('p');
    assert.equal(await page.evaluate('window.isPrinted'), true);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await row('Pia Paper').getByText('+351 912 000 000').waitFor();
    await page.getByRole('heading', { level: 2, name: /^Arrivals, / }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Arrived: Pia Paper' }).isVisible(), false);
    assert.equal(await page.getByLabel('Find a stay').isVisible(), false);
    assert.deepEqual(await accessibilityViolations(page, { onlyColors: true }), []);
    const paper = await page.pdf({ preferCSSPageSize: true });
    assert.equal(paper.toString('latin1').match(/\/Type \/Page\b/g)?.length, 1);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await cancel(id);
  });

  it('who should have come yesterday stands above the arrivals of today, until the desk reports it', async () => {
    const room = { room_type_id: hotel.roomTypes['Bunk'] };
    const dates = { check_in: dayAfter(today, -1), check_out: dayAfter(today, 1) };
    const { status, body } = await bookForHouse(service, hotel, { ...room, ...dates, guest: { name: 'Nadia Night' } });
    assert.equal(status, 201);
    const other = await arriving('Aaron Today', room);
    await openStays();
    await row('Nadia Night').waitFor();
    const rows = await page.getByRole('row').allInnerTexts();
    assert.deepEqual(
      rows.slice(1, 4).map((text) => text.split(/\n|\t/)[0]),
      ['Not reported yesterday', 'Nadia Night', 'Today'],
    );
    await page.getByRole('button', { name: 'Arrived: Nadia Night' }).click();
    await row('Nadia Night').waitFor({ state: 'hidden' });
    assert.equal(await page.getByText('Not reported yesterday').count(), 0);
    assert.notEqual((await read(body.reservation_id)).arrived_at, null);
    await cancel(body.reservation_id);
    await cancel(other);
  });

  it('the figures of Today lead to the views', async () => {
    for (const [figure, view] of Object.entries({ Departures: 'departures', 'In house': 'house' })) {
      await page.goto('/console/');
      await page.getByRole('link', { name: new RegExp(`^${figure}`) }).click();
      await page.getByRole('heading', { level: 1, name: 'Stays' }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('view'), view);
      await page.getByRole('button', { name: figure, exact: true, pressed: true }).waitFor();
    }
  });

  it('staff without the area do not see the screen', async () => {
    assert.ok(typeof browser === 'object');
    const token = tokenOf(await invite(service, hotel, { email: newEmail(), areas: ['orders'] }));
    const stranger = await browser.open({ ...DESKTOP, baseURL: service.url });
    try {
      await stranger.page.goto(`/console/#invite=${token}`);
      await stranger.page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
      await stranger.page.getByRole('button', { name: 'Sign in' }).click();
      await stranger.page.getByRole('link', { name: 'Orders', exact: true }).waitFor();
      assert.equal(await stranger.page.getByRole('link', { name: 'Stays' }).count(), 0);
      await stranger.page.goto('/console/stays');
      await stranger.page.getByText('You may not use this screen').waitFor();
    } finally {
      await stranger.close();
    }
  });
});
