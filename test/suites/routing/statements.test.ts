import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dayAhead, openHotel, pmsHeaders, writePlan } from '#test/support/hotel.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { startService } from '#test/support/service.ts';
import { causeEvent, register } from '#test/support/webhooks.ts';
import { TWO_FORMS } from './two-forms.ts';

// Most test runs use one node, so their services send no statements in the form for a cluster. This test makes a service send all these
// forms, and `close` checks that a cluster can route them.
it('if an SQL statement has a one-node form and a cluster form, a service for a cluster sends the cluster form, and a cluster can route that form', async () => {
  const receiver = await startReceiver();
  const service = await startService({ layout: 'cluster', worker: {} });
  try {
    const hotel = await openHotel(service);
    await register(service, hotel.partner, receiver.url);
    await causeEvent(service, hotel);
    await receiver.waitFor(1);
    const pms = await pmsHeaders(service, hotel);
    await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], [{ date: dayAhead(40), price: '9.00' }]);
  } finally {
    await receiver.close();
    await service.close();
  }
  const sent = [...service.statements.keys()];
  const missing = TWO_FORMS.filter(({ cluster }) => !sent.some((each) => cluster.test(each)));
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
    'the service sent no statement in these forms for a cluster',
  );
});
