import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { startService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { firstIdAt } from '#platform/lib/ids.ts';

it('soon after its start, a worker removes events that are older than the configured number of days, and keeps newer ones', async (t) => {
  const service = await startService();
  t.after(() => service.close());
  const tenant = await service.tenant();
  const daysAgo = (days: number) => firstIdAt(Date.now() - days * 86_400_000);
  const [, kept] = await insertEvents(service.database.db, [
    eventOf(tenant, { id: daysAgo(3) }),
    eventOf(tenant, { id: daysAgo(2.9) }),
  ]);
  // A worker removes old events 2.5 to 5 s after its start, and then only every hour. So the events exist before the worker starts.
  const second = await startService({ beside: service, worker: true, config: { eventRetentionDays: 3 } });
  t.after(() => second.close());
  const left = () => service.database.db.selectFrom('event').select('id').execute();
  await eventually(async () => (await left()).length < 2, 'old event removed', 30_000);
  assert.deepEqual(await left(), [{ id: kept }]);
});
