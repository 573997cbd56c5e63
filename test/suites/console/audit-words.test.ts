import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { factsOf, sentenceOf, SENTENCES } from '../../../console/src/screens/audit/words.ts';

const CONTRACT = join(import.meta.dirname, '../../../contract/staff.json');

describe('the words of the audit trail', () => {
  it('every action that the service writes has a sentence, and no other has one', () => {
    // The description is made from the list that types all actions in the service.
    const { components } = JSON.parse(readFileSync(CONTRACT, 'utf8'));
    const { description } = components.schemas.AuditEntry.properties.action;
    const actions = new Set<string>([...description.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name));
    assert.ok(actions.size > 30);
    assert.deepEqual(Object.keys(SENTENCES).sort(), [...actions].sort());
  });

  it('a sentence depends on the details where the action alone does not tell', () => {
    const action = 'dishes.availability_changed';
    assert.equal(sentenceOf(action, { is_active: false, skus: ['A', 'B'] }), 'took 2 dishes off the menu');
    assert.equal(sentenceOf(action, { is_active: true, skus: ['A'] }), 'put 1 dish on the menu');
    assert.equal(sentenceOf('reservation.arrival', { arrived: false }), 'took back the arrival of *');
    assert.equal(sentenceOf('door.opened', {}), 'did “door.opened” to *');
  });

  it('details are told by their fields, without ids and without what the sentence says', () => {
    const form = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' } as const;
    const day = new Date('2030-01-02').toLocaleDateString(undefined, form);
    const dish = { what: 'dish', name: 'A', change: 'changed', fields: [{ field: 'price', from: '1.00', to: '2.00' }] };
    for (const [details, told] of [
      [{ changes: [dish] }, ['dish A changed price: 1.00 → 2.00']],
      [{ audience: 'pms', before: { label: 'A' }, after: { label: 'B' } }, ['label: A → B']],
      [{ email: 'a@b.example', role: { from: 'staff', to: 'owner' } }, ['role: staff → owner']],
      [{ session_id: 'x', address: '127.0.0.1', reason: null }, ['address: 127.0.0.1']],
      [{ skus: ['A', 'B', 'C', 'D', 'E', 'F', 'G'] }, ['A, B, C, D, E, 2 more']],
      [
        { entries: [{ date: '2030-01-02', before: { price: null }, after: { price: '9.00' } }] },
        [`${day} price: base → 9.00`],
      ],
      [
        { entries: [{ date: '2030-01-02', before: { is_sold_out: false }, after: { is_sold_out: true } }] },
        [`${day} closed`],
      ],
      [{ entries: [{ date: '2030-01-02', stop_sell: false }] }, [`${day} open`]],
      [{ physical_capacity: { from: 5, to: 0 } }, ['rooms: 5 → 0']],
      [{ areas: { from: [], to: ['orders'] } }, ['areas: none → orders']],
    ] as const) {
      assert.deepEqual(factsOf(details), told);
    }
  });
});
