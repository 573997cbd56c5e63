import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCommand, succeed } from '#test/support/command.ts';
import { EVENTS, readToEnd } from '#test/support/feed.ts';
import { book, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { causeEvent } from '#test/support/webhooks.ts';

let service: TestService;
let wrong: TestHotel;
before(async () => {
  service = await startService();
  const sound = await openHotel(service, { slug: 'a-sound' });
  wrong = await openHotel(service, { slug: 'b-wrong' });
  await book(service, sound);
  await book(service, wrong);
});
after(() => service.close());

describe('roomservice nights verify and nights repair', () => {
  const run = (...args: string[]) => runCommand(['nights', ...args], { env: envOf(service) });

  async function falsify() {
    const night = service.database.db.updateTable('night').where('tenant_id', '=', wrong.tenantId);
    await night.set({ held: 3 }).where('date', '=', dayAhead(31)).execute();
    return wrong.roomTypes['Double'];
  }

  it('nights verify exits 0 and prints for each tenant how many nights it counted, as text or, with --json, as JSON', async () => {
    const [inWords, asJson] = [await run('verify'), await run('verify', '--json')];
    assert.deepEqual([inWords.code, asJson.code], [0, 0], inWords.stderr);
    assert.deepEqual(inWords.stdout.trim().split('\n'), [
      'a-sound: 2 nights checked, 0 with a wrong counter',
      'b-wrong: 2 nights checked, 0 with a wrong counter',
    ]);
    assert.deepEqual(JSON.parse(asJson.stdout), [
      { tenant: 'a-sound', nights: 2, differences: [] },
      { tenant: 'b-wrong', nights: 2, differences: [] },
    ]);
  });

  for (const { verb, code, found } of [
    { verb: 'verify', code: 1, found: 'with a wrong counter' },
    { verb: 'repair', code: 0, found: 'corrected' },
  ]) {
    it(`nights ${verb} exits ${code} and lists each wrong night counter, as text or, with --json, as JSON`, async () => {
      const room_type_id = await falsify();
      const inWords = await run(verb);
      assert.equal(inWords.code, code, inWords.stderr);
      assert.deepEqual(inWords.stdout.trim().split('\n'), [
        `a-sound: 2 nights checked, 0 ${found}`,
        `b-wrong: 2 nights checked, 1 ${found}`,
        `  ${dayAhead(31)} room type ${room_type_id}: counter 3, rooms in reservations 1`,
      ]);
      await falsify();
      const asJson = await run(verb, '--json');
      assert.equal(asJson.code, code, asJson.stderr);
      const differences = [{ room_type_id, date: dayAhead(31), held: 3, counted: 1 }];
      assert.deepEqual(JSON.parse(asJson.stdout)[1], { tenant: 'b-wrong', nights: 2, differences });
      assert.match(inWords.stderr, code === 0 ? /^$/ : /: 1\. The output lists .+ run "roomservice nights repair"/);
    });
  }

  it('after nights repair, nights verify finds no wrong counter', async () => {
    assert.equal((await run('verify')).code, 0);
  });
});

describe('roomservice feed expire-cursors', () => {
  it('after feed expire-cursors, a running process refuses an earlier cursor with 400, and gives new cursors', async () => {
    const { partner } = wrong;
    await causeEvent(service, wrong);
    const { next: old, ids } = await readToEnd(service, partner);
    const { stdout } = await succeed(['feed', 'expire-cursors'], { env: envOf(service) });
    assert.match(stdout, /^The service now refuses every earlier cursor of the event feed with 400\./);
    const refused = await service.call('GET', `${EVENTS}?after=${old}`, { headers: partner });
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_request']);
    const again = await readToEnd(service, partner);
    assert.deepEqual(again.ids, ids);
    assert.notEqual(again.next, old);
    const asJson = await succeed(['feed', 'expire-cursors', '--json'], { env: envOf(service) });
    assert.ok(Number.isSafeInteger(JSON.parse(asJson.stdout).era));
  });
});
