import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import { dayAhead, openChannel, STAFF_RESERVATIONS } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();
const send = await openChannel(service, hotel);

const stored = async (id: string) =>
  (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: hotel.staff })).body;

describe('values of an OTA that other calls would refuse', () => {
  const email = `${'a'.repeat(242)}@example.com`;
  for (const [what, guest, shown] of [
    [
      'a long name and a long phone are cut',
      { full_name: '🛏'.repeat(600), phone: '+44 20 7946 0123 ext. 4567', email },
      { full_name: '🛏'.repeat(500), phone: '+44 20 7946 0123 ext', email },
    ],
    [
      'a phone is cut by code points, and an e-mail that is too long is left out',
      { full_name: 'A', phone: '📞'.repeat(21), email: `a${email}` },
      { full_name: 'A', phone: '📞'.repeat(20), email: null },
    ],
    [
      'an empty phone and an empty e-mail are null',
      { full_name: 'A', phone: '', email: '' },
      { full_name: 'A', phone: null, email: null },
    ],
    [
      'a phone and an e-mail of a space are null',
      { full_name: 'A', phone: ' ', email: ' ' },
      { full_name: 'A', phone: null, email: null },
    ],
  ] as const) {
    it(`201, 200: in a new and in a changed reservation, ${what}`, async () => {
      const created = await send({ external_id: what, guest });
      assert.deepEqual([created.status, created.body.guest], [201, shown]);
      const changed = await send({ external_id: what, guest, guests: 2 });
      assert.deepEqual([changed.status, changed.body.guest], [200, shown]);
    });
  }

  for (const changes of [
    { guests: 0 },
    { guests: null, total_amount: null },
    { total_amount: '', rate_plan_id: '' },
    { rate_plan_id: null },
  ]) {
    it(`201, 200: ${JSON.stringify(changes)} counts as missing`, async () => {
      const channel = await openChannel(service, hotel, JSON.stringify(changes));
      const stay = { external_id: 'A', check_in: dayAhead(80), check_out: dayAhead(82) };
      const { status, body } = await channel({ ...stay, ...changes });
      assert.deepEqual([status, body.total_amount, (await stored(body.id)).guests], [201, '160.00', 1]);
      const plan = hotel.plans['Double/Flexible'];
      await channel({ ...stay, guests: 3, total_amount: '99.00', rate_plan_id: plan });
      const kept = await channel({ ...stay, guests: 2, total_amount: 98, ...changes });
      assert.equal(kept.status, 200);
      const row = await stored(body.id);
      assert.deepEqual(
        [row.guests, row.total_amount, row.rate_plan_id],
        ['guests' in changes ? 3 : 2, 'total_amount' in changes ? '99.00' : '98.00', plan],
      );
    });
  }

  it('400: the message about an amount with a comma shows an amount with a point', async () => {
    const refused = await send({ external_id: 'comma', total_amount: '149,50' });
    assert.deepEqual(faultsOf(refused), [
      'total_amount: must be an amount from 0 to 99999999.99 without a sign, such as 149 or 149.50',
    ]);
  });
});
