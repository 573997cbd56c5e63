import assert from 'node:assert/strict';
import { it } from 'node:test';
import { book, dayAhead, openHotel, pmsHeaders, writePlan } from '#test/support/hotel.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { startService } from '#test/support/service.ts';
import { age, ME, openSession } from '#test/support/sessions.ts';
import { causeEvent, register } from '#test/support/webhooks.ts';
import { readQueueState } from '#webhooks/deliveries/store.ts';
import { openChecked } from './service-database.ts';
import { TWO_FORMS } from './two-forms.ts';

// Most test runs use one node, so their services send no statements in the form for a cluster. This test makes a service send all these
// forms, and checks that a cluster can route them.
it('if an SQL statement has a one-node form and a cluster form, a service for a cluster sends the cluster form, and a cluster can route that form', async () => {
  let attempts = 0;
  // The first attempt fails, so that the worker has to claim the delivery again.
  const receiver = await startReceiver({ answer: () => ((attempts += 1) === 1 ? 500 : 204) });
  const sent: string[] = [];
  const service = await startService({ layout: 'cluster', worker: { drawWaitMs: () => 0 } });
  try {
    const hotel = await openHotel(service);
    await register(service, hotel.partner, receiver.url);
    await causeEvent(service, hotel);
    await receiver.waitFor(2);
    assert.equal((await book(service, hotel)).status, 201);
    const pms = await pmsHeaders(service, hotel);
    await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], [{ date: dayAhead(40), price: '9.00' }]);
    const unknown = await service.call('GET', orderPath('unknown'), { headers: hotel.partner });
    assert.equal(unknown.status, 404);
    const { id, headers } = await openSession(service, hotel.tenantId, 'owner');
    // Moves the last use of the session into the past, so that the next call must write a new time of the last use.
    await age(service, id, { unused: '2 minutes' });
    assert.equal((await service.call('GET', ME, { headers })).status, 200);
    const metrics = openChecked(service.database.url, 'cluster');
    await readQueueState(metrics.db);
    await metrics.close();
    sent.push(...metrics.statements);
  } finally {
    await receiver.close();
    await service.close();
  }
  sent.push(...service.statements);
  const missing = TWO_FORMS.filter(({ cluster }) => !sent.some((each) => cluster.test(each)));
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
    'the service sent no statement in these forms for a cluster',
  );
});
