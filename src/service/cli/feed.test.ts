import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cleanUp, runCommand, succeed } from '#test/support/command.ts';
import { EVENTS, readToEnd } from '#test/support/feed.ts';
import { envOf, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent } from '#test/support/webhooks.ts';

describe('roomservice feed expire-cursors', () => {
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('after feed expire-cursors, a running process refuses an earlier cursor with 400, and gives new cursors', async () => {
    await causeEvent(service, tenant);
    const { next: old } = await readToEnd(service, tenant.partner);
    const { stdout } = await succeed(['feed', 'expire-cursors'], { env: envOf(service) });
    assert.match(stdout, /^The service now refuses every earlier cursor of the event feed with 400\./);
    const refused = await service.call('GET', `${EVENTS}?after=${old}`, { headers: tenant.partner });
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_request']);
    const { ids, next } = await readToEnd(service, tenant.partner);
    assert.equal(ids.length, 1);
    assert.notEqual(next, old);
  });

  it('feed expire-cursors --json prints the number of the feed era, and the command feed without a subcommand exits 2', async () => {
    const { stdout } = await succeed(['feed', 'expire-cursors', '--json'], { env: envOf(service) });
    assert.ok(Number.isSafeInteger(JSON.parse(stdout).era));
    assert.equal((await runCommand(['feed'], { env: envOf(service) })).code, 2);
  });
});
