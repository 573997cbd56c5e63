import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { cleanUp, type Serving, startServing } from '../../support/command.ts';
import { book, openChannel, openHotel, reservationPath, type TestHotel } from '../../support/hotel.ts';
import { callUnchecked } from '../../support/http.ts';
import { entriesOf } from '../../support/lists.ts';
import { addPerson, invite, newEmail, NEW_PASSWORD, tokenOf } from '../../support/people.ts';
import { startReceiver } from '../../support/receiver.ts';
import { openDemo } from '../../support/sandbox.ts';
import { startService, type TestService } from '../../support/service.ts';
import { CONSOLE, SESSION, SESSIONS } from '../../support/sessions.ts';
import { causeEvent, eventually, placeOrder, register } from '../../support/webhooks.ts';
import { accessibilityViolations, overflowPx, showIn, type WatchedPage } from '../browser/browser.ts';
import { browser, DESKTOP, signIn, skip } from './console.ts';

const OWNER = { email: 'owner@demo.example', password: 'a long password of the demo' };

/** The tests share one browser and one process of the service. The tenant of the demo is for the link, the others have a tenant of their own. */
describe('the console in a browser', { skip }, () => {
  let service: TestService;
  let serving: Serving;
  let house: TestHotel;
  let owner: { email: string; password: string };
  let watched: WatchedPage;
  let page: Page;

  before(async () => {
    assert.ok(typeof browser === 'object');
    service = await startService();
    await openDemo(service, { slug: 'demo', users: [{ ...OWNER, role: 'owner' }] });
    house = await openHotel(service);
    const [user] = house.document.users ?? [];
    owner = { email: user?.email ?? '', password: user?.password ?? '' };
    const keys = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
    serving = await startServing(['--demo'], {
      env: { ...keys, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
      columns: 100,
    });
    watched = await browser.open({ ...DESKTOP, baseURL: serving.url });
    page = watched.page;
    page.setDefaultTimeout(30_000);
  });
  after(async () => {
    await watched.close();
    await cleanUp();
    await service.close();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  /** Opens a page of the console in a new document, as another person does. */
  async function openAs(credentials: typeof OWNER | null, path = '/console/'): Promise<void> {
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(path);
    if (credentials !== null) {
      await heading('Sign in');
      await signIn(page, credentials.email, credentials.password);
      await heading('Today');
    }
  }

  /**
   * Asserts that the page has reported no problem. The refusals of a caller who has not signed in are no problem, and neither are the reads
   * that a page ends when it is left.
   */
  function assertNoProblems(): void {
    const expected =
      /^(?:401: |console: Failed to load resource: the server responded with a status of 401|failed: .* net::ERR_ABORTED$)/;
    assert.deepEqual(
      watched.problems().filter((problem) => !expected.test(problem)),
      [],
    );
  }

  const sessionsOf = async () => (await service.call('GET', SESSIONS, { headers: house.owner })).body;

  it('the link that serve --demo prints signs the owner in once, and is not in the address any more', async () => {
    const [, link = ''] = await serving.prints(/^ {2}Console {2}(\S+)$/m);
    await openAs(null, link);
    await heading('Today');
    assert.equal(new URL(page.url()).pathname, '/console/');
    assert.equal(new URL(page.url()).hash, '');
    await page.getByText('Demo', { exact: true }).waitFor();
    await openAs(null, link);
    await heading('This link no longer works');
    await page.getByText('Ask an owner for a new link.').waitFor();
    assertNoProblems();
  });

  it('a wrong password is told in place; the right one signs in; the menu signs out, and ends the session', async () => {
    await openAs(null, '/console/orders');
    await heading('Sign in');
    await signIn(page, owner.email, 'a wrong password');
    await page.getByText('The e-mail or the password is wrong', { exact: false }).waitFor();
    assert.equal(await page.getByLabel('E-mail').inputValue(), owner.email);
    await signIn(page, owner.email, owner.password);
    await heading('Orders');
    assert.equal((await sessionsOf()).length, 1);
    await page.getByRole('button', { name: /Owner/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading('Sign in');
    assert.equal((await sessionsOf()).length, 0);
    assertNoProblems();
  });

  it('if the session ends in mid-work, the page asks for the password over the screen, and then goes on', async () => {
    await openAs(owner);
    const [session] = await sessionsOf();
    await service.call('POST', `${SESSIONS}${session.id}/end/`, { headers: house.owner });
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill('a wrong password');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('The e-mail or the password is wrong', { exact: false }).waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill(owner.password);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const [again] = await sessionsOf();
    await service.call('POST', `${SESSIONS}${again.id}/end/`, { headers: house.owner });
    await dialog.waitFor();
    const otherTab = {
      headers: { 'x-roomservice-console': '1' },
      data: { email: owner.email, password: owner.password },
    };
    assert.ok((await page.request.post(`${service.url}/v1/auth/session/`, otherTab)).ok());
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await dialog.waitFor({ state: 'hidden' });
    await placeOrder(service, house.partner);
    await page.getByRole('link', { name: /^New\s*1/ }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    assertNoProblems();
  });

  it('an invited person chooses a password, is signed in, and sees only the screens of the own areas', async () => {
    const email = newEmail();
    const token = tokenOf(await invite(service, house, { email, name: 'Rui Matos', areas: ['orders'] }));
    await openAs(null, `/console/#invite=${token}`);
    await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading('Today');
    await page.getByText('Rui Matos').waitFor();
    assert.deepEqual(await page.getByRole('navigation').getByRole('link').allInnerTexts(), [
      'Today',
      'Orders',
      'Settings',
    ]);
    assert.equal(await page.getByRole('heading', { name: 'Hotel' }).count(), 0);
    await openAs({ email, password: NEW_PASSWORD });
    assertNoProblems();
  });

  it('a person without an area is told so, and is refused a screen of others by the console and the API', async () => {
    const email = newEmail();
    const person = await addPerson(service, house, { email, areas: [] });
    await openAs({ email, password: NEW_PASSWORD });
    await page.getByText('Nothing to see here for you yet.').waitFor();
    assert.deepEqual(await page.getByRole('navigation').getByRole('link').allInnerTexts(), ['Today', 'Settings']);
    assertNoProblems();
    const { status } = await service.call('GET', '/v1/staff/webhook-deliveries/', { headers: person.headers });
    assert.equal(status, 403);
    await page.goto('/console/deliveries');
    await page.getByText('You may not use this screen').waitFor();
    watched.problems();
  });

  it('after too many wrong passwords, the sign-in counts down, and then may be pressed again', async () => {
    const json = { email: newEmail(), password: 'a wrong password' };
    const attempt = async () => (await callUnchecked(serving.url, 'POST', SESSION, { headers: CONSOLE, json })).status;
    await openAs(null);
    await page.clock.install();
    await signIn(page, json.email, json.password);
    await page.getByText('The e-mail or the password is wrong', { exact: false }).waitFor();
    await eventually(async () => (await attempt()) === 429, '429 at the API');
    await signIn(page, json.email, json.password);
    const button = page.getByRole('button', { name: 'Sign in' });
    await page.getByText(/^Too many attempts\. Try again in \d+ s\.$/).waitFor();
    assert.ok(await button.isDisabled());
    await page.clock.fastForward(70_000);
    await page.getByText(/^Too many attempts/).waitFor({ state: 'detached' });
    assert.ok(await button.isEnabled());
    watched.problems();
  });

  it('Today shows a night that an OTA oversells and a receiver that fails, and is quiet after the stay is cancelled and the webhook is removed', async (t) => {
    await openAs(owner);
    await page.getByText(/^All quiet, checked \d+ s ago$/).waitFor();
    const receiver = await startReceiver({ answer: () => 503 });
    t.after(() => receiver.close());
    await register(service, house.partner, receiver.url);
    await causeEvent(service, house);
    const failing = page.getByRole('link', { name: /Webhooks to A platform fail/ });
    await failing.waitFor();
    // The waits between the attempts are random, so the last one may have been made already.
    assert.match(await failing.innerText(), /(?:1 delivery waits|Nothing waits any more)\. Last attempt: answered 503/);
    const send = await openChannel(service, house);
    const path = `/v1/staff/room-types/${house.roomTypes['Double']}/`;
    await service.call('PATCH', path, { headers: house.owner, json: { physical_capacity: 1 } });
    const booked = await book(service, house);
    assert.equal((await send({})).status, 201);
    await page.getByText('Double is oversold on 2 nights').waitFor();
    await page.getByText('(2 of 1)', { exact: false }).waitFor();
    await failing.click();
    await heading('Deliveries');
    assert.match(page.url(), /status=(?:pending|failed)/);
    await page.goBack();
    await heading('Today');
    const remove = `/v1/staff/credentials/${house.credential.id}/webhook/remove/`;
    assert.equal((await service.call('POST', remove, { headers: house.owner })).status, 200);
    const cancel = reservationPath(booked.body.external_reservation_id, 'cancel/');
    assert.equal((await service.call('POST', cancel, { headers: house.partner })).status, 200);
    await page.getByText(/^All quiet/).waitFor();
    assertNoProblems();
  });

  it('Make it busy sends guests to the demo, whose orders appear without a reload; New leads to the list of new orders', async () => {
    await openAs(OWNER);
    await page.getByText('Import a menu, done').waitFor();
    await page.getByRole('button', { name: 'Make it busy' }).click();
    await page.getByRole('button', { name: /^Guests are coming, \d+ s$/ }).waitFor();
    const demo = await ownerHeaders();
    await eventually(
      async () => (await entriesOf(service, '/v1/staff/orders/', demo)).length > 0,
      'order of a guest',
      60_000,
    );
    await page.getByText('Wait for the first order, done').waitFor();
    await page.getByRole('link', { name: /^New/ }).click();
    await heading('Orders');
    assert.match(page.url(), /status=(?:pending|failed)/);
    assertNoProblems();
  });

  it('Today is accessible in both colour schemes, and is not wider than a phone', async () => {
    await openAs(owner);
    await page.getByRole('heading', { name: 'Next 14 nights' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await showIn(page, colorScheme);
      assert.deepEqual(await accessibilityViolations(page, { onlyColors: colorScheme === 'dark' }), []);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await overflowPx(page)) <= 0);
    assertNoProblems();
  });

  async function ownerHeaders(): Promise<Record<string, string>> {
    const { body } = await service.call('POST', '/v1/auth/token/', { json: OWNER });
    return { authorization: `Bearer ${body.access_token}` };
  }
});
