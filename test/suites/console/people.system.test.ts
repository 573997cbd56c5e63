import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  addPerson,
  changePerson,
  cookieOf,
  listPeople,
  newEmail,
  NEW_PASSWORD,
  readMe,
  signInForToken,
} from '../../support/people.ts';
import { startService, type TestService, type TestTenant } from '../../support/service.ts';
import { consoleHeaders, signIn as startSession } from '../../support/sessions.ts';
import { STAFF_PASSWORD } from '../../support/tenants.ts';
import { eventually } from '../../support/webhooks.ts';
import type { WatchedPage } from '../browser/browser.ts';
import { browser, DESKTOP, openConsole, skip } from './console.ts';

/** Time in milliseconds within which an open console notices that its person is disabled. */
const OUT_WITHIN_MS = 2_000;
const DISPLAYS = '/v1/staff/displays/';

describe('people and settings in the console', { skip }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let owner: WatchedPage;
  let other: WatchedPage;
  let page: Page;
  let guest: Page;
  before(async () => {
    assert.ok(typeof browser === 'object');
    service = await startService();
    tenant = await service.tenant();
    owner = await openConsole(service, tenant);
    page = owner.page;
    other = await browser.open({ ...DESKTOP, baseURL: service.url });
    guest = other.page;
    guest.setDefaultTimeout(30_000);
  });
  after(async () => {
    await owner.close();
    await other.close();
    await service.close();
  });

  const dialog = (of: Page, name: RegExp | string) => of.getByRole('dialog', { name });
  const heading = (of: Page, name: string) => of.getByRole('heading', { level: 1, name }).waitFor();
  const screensOf = (of: Page) => of.getByRole('navigation').getByRole('link').allInnerTexts();
  const personWith = async (email: string) =>
    (await listPeople(service, tenant)).find((person: { email: string }) => person.email === email);
  /** Status that a call with the cookie of the browser gets. */
  const statusOf = async (of: Page, path: string) => {
    const [cookie] = await of.context().cookies();
    return (await service.call('GET', path, { headers: consoleHeaders(cookie?.value ?? '') })).status;
  };
  const openPerson = async (id: string, name: string) => {
    await page.goto(`/console/people?open=${id}`);
    await dialog(page, name).getByRole('button', { name: 'Save' }).waitFor();
    return dialog(page, name);
  };
  /** Presses an action at the foot of the drawer, and confirms it. */
  const act = async (name: string, action: string) => {
    await dialog(page, name).getByRole('button', { name: action }).click();
    await dialog(page, `${action}: ${name}`).getByRole('button', { name: action }).click();
  };
  /** Reads the link that the dialog shows, and closes the dialog. */
  const takeLink = async (title: string) => {
    const shown = dialog(page, title);
    const link = (await shown.locator('pre').textContent()) ?? '';
    await shown.getByText(/^It works once, until /).waitFor();
    await shown.getByRole('button', { name: 'I have it' }).click();
    await shown.waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(link), 'the link is gone');
    return new URL(link).hash;
  };
  const choosePassword = async (hash: string, password: string) => {
    await guest.goto('about:blank');
    await guest.goto(`/console/${hash}`);
    await guest.getByLabel('Password', { exact: true }).fill(password);
    await guest.getByRole('button', { name: 'Sign in' }).click();
    await heading(guest, 'Today');
    other.problems();
  };
  /** A person of the console whose first call has not been made yet: the guest's browser is signed in as this person. */
  const inviteGuest = async (name: string, areas: string[]) => {
    const email = newEmail();
    await page.goto('/console/people?new=1');
    const form = dialog(page, 'Invite a person');
    await form.getByLabel('E-mail').fill(email);
    await form.getByLabel('Name').fill(name);
    for (const area of areas) {
      await form.getByRole('checkbox', { name: area }).check();
    }
    await form.getByRole('button', { name: 'Invite' }).click();
    const hash = await takeLink(`Invitation for ${name}`);
    return { email, name, hash };
  };

  it('an owner invites a person, whose link works in another browser: the first sign-in shows only the areas that were given', async () => {
    const { email, hash } = await inviteGuest('Rui Matos', ['Orders']);
    const row = page.getByRole('row', { name: /Rui Matos/ });
    await row.getByText('Invited').waitFor();
    const { is_invited: isInvited, areas } = await personWith(email);
    assert.deepEqual([isInvited, areas], [true, ['orders']]);
    await choosePassword(hash, NEW_PASSWORD);
    assert.deepEqual(await screensOf(guest), ['Today', 'Orders', 'Settings']);
    await row.getByText('Invited').waitFor({ state: 'detached' });
    assert.equal((await personWith(email)).is_invited, false);
    assert.equal(await statusOf(guest, '/v1/staff/orders/'), 200);
    assert.equal(await statusOf(guest, '/v1/staff/webhook-deliveries/'), 403);
    assert.deepEqual([owner.problems(), other.problems()], [[], []]);
  });

  it('changed areas count from the next call on, and the screen that the person is on says so', async () => {
    const { email, name, hash } = await inviteGuest('Eva Ramos', ['Orders']);
    await choosePassword(hash, NEW_PASSWORD);
    await guest.goto('/console/orders');
    await guest.getByText('Live', { exact: true }).waitFor();
    const { id } = await personWith(email);
    const drawer = await openPerson(id, name);
    await drawer.getByRole('checkbox', { name: 'Orders' }).uncheck();
    await drawer.getByRole('checkbox', { name: 'Deliveries' }).check();
    await drawer.getByRole('button', { name: 'Save' }).click();
    await guest.getByText('You may not use this screen').waitFor();
    assert.deepEqual(await screensOf(guest), ['Today', 'Deliveries', 'Settings']);
    assert.deepEqual((await personWith(email)).areas, ['deliveries']);
    assert.equal(await statusOf(guest, '/v1/staff/orders/'), 403);
    await guest.getByRole('link', { name: 'Deliveries' }).click();
    await heading(guest, 'Deliveries');
    assert.deepEqual(owner.problems(), []);
  });

  it('a reset ends the sessions at once, and its link lets the person choose a new password', async () => {
    const { email, name, hash } = await inviteGuest('Ines Costa', ['Orders']);
    await choosePassword(hash, NEW_PASSWORD);
    const { id } = await personWith(email);
    const drawer = await openPerson(id, name);
    await drawer.getByText('Chrome on Linux').waitFor();
    await act(name, 'Reset password');
    const reset = await takeLink(`New password for ${name}`);
    await dialog(guest, 'Your session has ended').waitFor();
    await drawer.getByText('Signed in nowhere.').waitFor();
    assert.equal(await statusOf(guest, '/v1/staff/me/'), 401);
    await choosePassword(reset, 'another password of mine');
    assert.equal((await signInForToken(service, email, NEW_PASSWORD)).status, 401);
    assert.equal(await statusOf(guest, '/v1/staff/me/'), 200);
    assert.deepEqual(owner.problems(), []);
  });

  it('an owner ends one session of a person from the list of its devices', async () => {
    const { id, email } = await addPerson(service, tenant, { name: 'Tiago Dias' });
    const drawer = await openPerson(id, 'Tiago Dias');
    await drawer.getByRole('button', { name: /^End the session on/ }).click();
    await drawer.getByText('Signed in nowhere.').waitFor();
    assert.equal((await signInForToken(service, email)).status, 200);
    assert.deepEqual(owner.problems(), []);
  });

  it('disabling a person puts an open console out within 2 s and says why; after enabling, the password is taken again', async () => {
    const { email, name, hash } = await inviteGuest('Ana Lopes', ['Orders']);
    await choosePassword(hash, NEW_PASSWORD);
    await guest.goto('/console/orders');
    await guest.getByText('Live', { exact: true }).waitFor();
    const { id } = await personWith(email);
    await openPerson(id, name);
    const ended = dialog(guest, 'Your session has ended');
    const changed = page.waitForResponse(`**/v1/staff/people/${id}/`);
    const isOut = ended.waitFor();
    await act(name, 'Disable');
    await changed;
    const startMs = performance.now();
    await isOut;
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs <= OUT_WITHIN_MS, `out after ${tookMs} ms`);
    await ended.getByText(/by an owner, who may also have .* disabled your account/).waitFor();
    await ended.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await ended.getByRole('button', { name: 'Go on' }).click();
    await ended.getByText('The e-mail or the password is wrong.').waitFor();
    assert.equal((await personWith(email)).is_active, false);
    await page
      .getByRole('row', { name: /Ana Lopes/ })
      .getByText('Disabled')
      .waitFor();

    await act(name, 'Enable');
    await dialog(page, name).getByRole('button', { name: 'Disable' }).waitFor();
    await ended.getByRole('button', { name: 'Go on' }).click();
    await ended.waitFor({ state: 'detached' });
    assert.equal(await statusOf(guest, '/v1/staff/orders/'), 200);
    assert.deepEqual(owner.problems(), []);
  });

  it('a display is added and paired by its letters, sees only what applies to it, and is out when it is removed', async () => {
    await page.goto('/console/people?kind=displays');
    await page.getByText('No display yet.').waitFor();
    await page.keyboard.press('n');
    const adding = dialog(page, 'Add a display');
    await adding.getByLabel('Name').fill('Kitchen');
    assert.ok(await adding.getByRole('button', { name: 'Make its letters' }).isDisabled(), 'it may use nothing yet');
    await adding.getByRole('checkbox', { name: 'Orders' }).check();
    await adding.getByRole('button', { name: 'Make its letters' }).click();
    await adding.getByText(/They work until \d\d:\d\d\.$/).waitFor();
    assert.ok((await adding.locator('pre').textContent())?.endsWith('/console/pair'));
    const letters = (await adding.getByText(/^[A-Z]{4} [A-Z]{4}$/).textContent()) ?? '';
    await guest.goto('about:blank');
    await guest.context().clearCookies();
    await guest.goto('/console/pair');
    await guest.getByLabel('Pairing code').fill(letters);
    await guest.getByRole('button', { name: 'Pair' }).click();
    await heading(guest, 'Today');
    await adding.getByText('Kitchen is signed in.').waitFor();
    await adding.getByRole('button', { name: 'Done' }).click();
    const displays = async () => (await service.call('GET', DISPLAYS, { headers: tenant.owner })).body;
    const [display] = await displays();
    assert.deepEqual([display.label, display.areas], ['Kitchen', ['orders']]);
    assert.notEqual(display.last_used_at, null);

    await guest.getByRole('link', { name: 'Settings' }).click();
    await guest.getByRole('heading', { name: 'This display' }).waitFor();
    await guest.getByLabel('Ring for new orders').waitFor();
    assert.equal(await guest.getByLabel(/password|^Name/).count(), 0);
    other.problems();

    await page.getByRole('button', { name: 'Remove' }).click();
    await dialog(page, 'Remove Kitchen').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No display yet.').waitFor();
    await guest.getByText(/^This display was signed out/).waitFor();
    assert.deepEqual(await displays(), []);
    assert.deepEqual(owner.problems(), []);
  });

  it('a refused change says the words of the service in place: the last owner, an e-mail that is taken, somebody who was first', async () => {
    const email = `owner@${tenant.document.slug}.example`;
    const self = await personWith(email);
    await openPerson(self.id, self.name ?? email);
    await act(self.name ?? email, 'Disable');
    await page
      .getByRole('alert')
      .getByText(/^This person is the last active owner/)
      .waitFor();
    assert.equal((await personWith(email)).is_active, true);

    await page.goto('/console/people?new=1');
    const form = dialog(page, 'Invite a person');
    await form.getByLabel('E-mail').fill(email);
    assert.ok(await form.getByRole('button', { name: 'Invite' }).isDisabled());
    await form.getByRole('checkbox', { name: 'Orders' }).check();
    await form.getByRole('button', { name: 'Invite' }).click();
    await form.getByRole('alert').waitFor();
    assert.match(await form.getByRole('alert').innerText(), /e-mail/i);
    assert.equal(await form.getByLabel('E-mail').inputValue(), email);

    const { id } = await addPerson(service, tenant, { name: 'Zoe Faria' });
    await (await openPerson(id, 'Zoe Faria')).getByRole('button', { name: 'Reset password' }).click();
    assert.equal((await changePerson(service, tenant, id, { is_active: false })).status, 200);
    const question = dialog(page, 'Reset password: Zoe Faria');
    await question.getByRole('button', { name: 'Reset password' }).click();
    await question.getByRole('alert').getByText('Enable the account first.', { exact: false }).waitFor();
    assert.ok(owner.problems().every((problem) => /409/.test(problem)));
  });

  it('a person changes name and password: the rule is said first, a wrong password is told in place, and all other devices are out', async () => {
    const staff = await openConsole(service, tenant, { role: 'staff' });
    const own = staff.page;
    try {
      const device = async () => cookieOf(await startSession(service, tenant, 'staff'));
      const [first, second] = [await device(), await device()];
      await own.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
      await heading(own, 'Settings');
      await own.getByText('This device', { exact: false }).waitFor();
      await own.getByRole('button', { name: 'End the session on An unknown device' }).first().click();
      await own
        .getByRole('button', { name: 'End the session on An unknown device' })
        .nth(1)
        .waitFor({ state: 'detached' });
      const left = await Promise.all([first, second].map((headers) => readMe(service, headers)));
      assert.deepEqual(
        left.map(({ status }) => status),
        [200, 401],
      );

      await own.getByLabel('Name', { exact: true }).fill('Nuno Reis');
      await own.getByRole('button', { name: 'Save' }).click();
      await own.getByRole('button', { name: /Nuno Reis/ }).waitFor();
      assert.equal((await readMe(service, tenant.staff)).body.person.name, 'Nuno Reis');

      await own.getByText(/^At least 12 characters/).waitFor();
      const change = async (current: string) => {
        await own.getByLabel('Current password', { exact: true }).fill(current);
        await own.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
        await own.getByRole('button', { name: 'Change the password' }).click();
      };
      await change('a wrong password');
      await own.getByText('The current password is wrong.').waitFor();
      await change(STAFF_PASSWORD);
      await own.getByText('Changed. Your other devices are signed out.').waitFor();
      assert.equal((await readMe(service, first)).status, 401);
      assert.equal((await readMe(service, tenant.staff)).status, 401);
      assert.equal(await statusOf(own, '/v1/staff/me/'), 200);
      assert.ok(staff.problems().every((problem) => /401/.test(problem)));
    } finally {
      await staff.close();
    }
  });

  it('by keyboard alone: to People, an invitation, all keys, and to Settings', async () => {
    const email = newEmail();
    await page.goto('/console/');
    await heading(page, 'Today');
    const type = (text: string) => page.keyboard.type(text);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('g', 'e');
    await heading(page, 'People');
    await page.getByRole('table').waitFor();
    await press('n');
    await dialog(page, 'Invite a person').getByLabel('E-mail').and(page.locator(':focus')).waitFor();
    await type(email);
    await press('Tab');
    await type('Lia Moura');
    // The role, then the first area.
    await press('Tab', 'Tab', 'Space', 'Enter');
    await dialog(page, 'Invitation for Lia Moura').waitFor();
    assert.deepEqual((await personWith(email)).areas, ['orders']);
    // Escape would lose the link: past its Copy, the button is the only way on.
    await press('Escape', 'Tab', 'Tab', 'Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('?');
    const keys = page.getByRole('dialog');
    for (const label of ['Go to Settings', 'Go to People', 'Invite a person', 'Show all commands and keys']) {
      await keys.getByText(label, { exact: true }).waitFor();
    }
    await press('Escape');
    await keys.waitFor({ state: 'detached' });
    await press('g', ',');
    await heading(page, 'Settings');
    assert.deepEqual(owner.problems(), []);
  });

  it('what is set for this browser is kept: the look, the sound, and when an order is late', async () => {
    await page.goto('/console/settings');
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.getByLabel('Ring for new orders').uncheck();
    await page.getByLabel('New', { exact: true }).fill('7');
    const today = page.waitForRequest(/\/v1\/staff\/today\/.*late_pending=7/);
    await page.goto('/console/');
    await today;
    await page.goto('/console/orders');
    await page.getByRole('button', { name: 'Sound on' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), 'dark');
    assert.deepEqual(owner.problems(), []);
  });

  it('a phone has four screens below and the rest in More; at a height of 768 px the sidebar shows all', async () => {
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.goto('/console/settings');
    const nav = page.getByRole('navigation');
    assert.equal(await nav.evaluate((element) => element.scrollHeight - element.clientHeight), 0);
    await nav.getByRole('link', { name: 'Settings' }).and(page.locator('[data-status="active"]')).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await eventually(async () => (await screensOf(page)).length === 4, 'four screens below');
    await nav.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'People' }).click();
    await heading(page, 'People');
    await page.setViewportSize({ width: 1440, height: 900 });
    assert.deepEqual(owner.problems(), []);
  });
});
