import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '#test/support/command.ts';
import { book, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';

describe('roomservice nights verify and nights repair', () => {
  let service: TestService;
  let sound: TestHotel;
  let wrong: TestHotel;
  before(async () => {
    service = await startService();
    [sound, wrong] = [await openHotel(service, { slug: 'a-sound' }), await openHotel(service, { slug: 'b-wrong' })];
    await book(service, sound);
    await book(service, wrong);
  });
  after(() => service.close());

  const verify = (...args: string[]) => run('verify', ...args);

  const run = (...args: string[]) => runCommand(['nights', ...args], { env: envOf(service) });

  it('nights verify exits 0 and prints for each tenant how many nights it counted', async () => {
    const { code, stdout, stderr } = await verify();
    assert.equal(code, 0, stderr);
    assert.deepEqual(stdout.trim().split('\n'), [
      'a-sound: 2 nights checked, 0 with a wrong counter',
      'b-wrong: 2 nights checked, 0 with a wrong counter',
    ]);
  });

  it('nights verify --json exits 0 and prints only JSON', async () => {
    const { code, stdout } = await verify('--json');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), [
      { tenant: 'a-sound', nights: 2, differences: [] },
      { tenant: 'b-wrong', nights: 2, differences: [] },
    ]);
  });

  it('nights verify exits 1 and lists each wrong night counter, as text or, with --json, as JSON', async () => {
    const night = service.database.db.updateTable('night').where('tenant_id', '=', wrong.tenantId);
    await night.set({ held: 3 }).where('date', '=', dayAhead(31)).execute();
    const room_type_id = wrong.roomTypes['Double'];
    const inWords = await verify();
    assert.equal(inWords.code, 1);
    assert.deepEqual(inWords.stdout.trim().split('\n'), [
      'a-sound: 2 nights checked, 0 with a wrong counter',
      'b-wrong: 2 nights checked, 1 with a wrong counter',
      `  ${dayAhead(31)} room type ${room_type_id}: counter 3, rooms in reservations 1`,
    ]);
    assert.match(
      inWords.stderr,
      /^roomservice: .*: 1\. The output lists each of them\. To correct them, run "roomservice nights repair"/m,
    );

    const asJson = await verify('--json');
    assert.equal(asJson.code, 1);
    const differences = [{ room_type_id, date: dayAhead(31), held: 3, counted: 1 }];
    assert.deepEqual(JSON.parse(asJson.stdout)[1], { tenant: 'b-wrong', nights: 2, differences });
  });

  it('nights repair exits 0 and lists each corrected night counter, as text or, with --json, as JSON; then nights verify finds no wrong counter', async () => {
    const night = service.database.db.updateTable('night').where('tenant_id', '=', wrong.tenantId);
    const falsify = () => night.set({ held: 3 }).where('date', '=', dayAhead(31)).execute();
    const room_type_id = wrong.roomTypes['Double'];
    await falsify();
    const inWords = await run('repair');
    assert.equal(inWords.code, 0, inWords.stderr);
    assert.deepEqual(inWords.stdout.trim().split('\n'), [
      'a-sound: 2 nights checked, 0 corrected',
      'b-wrong: 2 nights checked, 1 corrected',
      `  ${dayAhead(31)} room type ${room_type_id}: counter 3, rooms in reservations 1`,
    ]);
    await falsify();
    const asJson = await run('repair', '--json');
    assert.equal(asJson.code, 0, asJson.stderr);
    const differences = [{ room_type_id, date: dayAhead(31), held: 3, counted: 1 }];
    assert.deepEqual(JSON.parse(asJson.stdout)[1], { tenant: 'b-wrong', nights: 2, differences });
    assert.equal((await verify()).code, 0);
  });
});
