import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { book, dayAhead, openHotel, pmsHeaders, type TestHotel, writePlan } from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { useService } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

let hotel: TestHotel;
let flexible: string;
const service = await useService();
beforeEach(async () => {
  hotel = await openHotel(service);
  flexible = hotel.plans['Double/Flexible'] ?? '';
});

const change = (id: string | undefined, json: object, headers = hotel.owner): Promise<Answer> =>
  service.call('PATCH', `/v1/staff/rate-plans/${id}/`, { headers, json });
const total = async (changes: Record<string, unknown> = {}) =>
  (await book(service, hotel, { check_in: dayAhead(30), check_out: dayAhead(31), ...changes })).body.total_amount;

describe('PATCH /v1/staff/rate-plans/{id}/', () => {
  it('200: a change of base_price or min_nights keeps the other field, and returns the plan', async () => {
    const shape = { id: flexible, name: 'Flexible', is_active: true };
    const priced = await change(flexible, { base_price: '99.5' });
    assert.deepEqual([priced.status, priced.body], [200, { ...shape, base_price: '99.50', min_nights: 1 }]);
    const longer = await change(flexible.toUpperCase(), { min_nights: 2 });
    assert.deepEqual([longer.status, longer.body], [200, { ...shape, base_price: '99.50', min_nights: 2 }]);
  });

  it('200: if base_price of a rate plan changes, a later booking costs the new base price, but a night with its own price keeps this price', async () => {
    const pms = await pmsHeaders(service, hotel);
    await writePlan(service, pms, 'rates', flexible, [{ date: dayAhead(31), price: '120.00' }]);
    assert.equal(await total(), '100.00');
    assert.equal((await change(flexible, { base_price: '70.00' })).status, 200);
    assert.equal(await total(), '70.00');
    assert.equal(await total({ check_in: dayAhead(31), check_out: dayAhead(32) }), '120.00');
  });

  it('200: after staff raise min_nights, a shorter stay is refused', async () => {
    assert.equal((await change(flexible, { min_nights: 3 })).status, 200);
    const refused = await book(service, hotel, { check_in: dayAhead(30), check_out: dayAhead(31) });
    assertError(refused, 409, 'room_not_available');
  });

  it('200: an inactive plan can be changed, and the response says that it is inactive', async () => {
    const { status, body } = await change(hotel.plans['Double/Closed for good'], { base_price: '2.00' });
    assert.deepEqual([status, body.base_price, body.is_active], [200, '2.00', false]);
  });

  it('200: the audit trail has the values before and after a change, and no entry if the values are the same', async () => {
    const trail = async () => {
      const body = await entriesOf(service, '/v1/staff/audit/', hotel.owner);
      return body.filter(({ action }: { action: string }) => action === 'rate_plan.changed');
    };
    assert.equal((await change(flexible, { base_price: '100', min_nights: 1 })).status, 200);
    assert.deepEqual(await trail(), []);
    assert.equal((await change(flexible, { min_nights: 2 })).status, 200);
    const [entry, ...others] = await trail();
    assert.deepEqual(others, []);
    assert.deepEqual([entry.subject, entry.actor.type], [flexible, 'user']);
    assert.deepEqual(entry.details, {
      before: { base_price: '100.00', min_nights: 1 },
      after: { base_price: '100.00', min_nights: 2 },
    });
  });

  it('if the JSON file of a tenant is applied after staff changed base_price and min_nights of a plan, both fields get the values of the file', async () => {
    await change(flexible, { base_price: '70.00', min_nights: 5 });
    const { changes } = await service.apply({ ...hotel.document, users: undefined });
    assert.deepEqual(
      changes.map(({ name, fields }) => [name, fields]),
      [
        [
          'Harbour House / Double / Flexible',
          [
            { field: 'base_price', from: '70.00', to: '100.00' },
            { field: 'min_nights', from: 5, to: 1 },
          ],
        ],
      ],
    );
    assert.equal(await total(), '100.00');
  });
});
