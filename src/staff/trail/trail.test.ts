import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { makeChannel } from '#test/support/channel.ts';
import { entriesOf } from '#test/support/lists.ts';
import { dayAhead, pmsHeaders } from '#test/support/hotel.ts';
import { addPerson } from '#test/support/people.ts';
import { PMS } from '#test/support/pms.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openDisplay, openSession, personId } from '#test/support/sessions.ts';
import { register } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';
import type { AuditEntry } from '#access/audit/schema.ts';

const AUDIT = '/v1/staff/audit/';

const { service, hotel } = await useHotel();

/** Reads the list at once and in pages of three entries, and asserts that both are equal. Returns the entries. */
async function found(query: Record<string, string>, of: TestTenant = hotel): Promise<AuditEntry[]> {
  const path = `${AUDIT}?${new URLSearchParams(query)}`;
  const entries = await entriesOf(service, path, of.owner);
  assert.deepEqual(await entriesOf(service, path, of.owner, 3), entries);
  return entries;
}

const owner = async (json: unknown, method: string, path: string) => {
  const answer = await service.call(method, path, { headers: hotel.owner, json });
  assert.ok(answer.status < 300, answer.text);
  return answer.body;
};

describe('names in GET /v1/staff/audit/', () => {
  const namesOf = async (action: string) => {
    const [entry] = await found({ action });
    assert.ok(entry, action);
    return [entry.actor.name, entry.subject_label];
  };

  it('200: an audit entry shows the names of its actor and its subject, for each kind of actor and subject', async () => {
    const ownerName = `owner@${hotel.document.slug}.example`;
    await makeChannel(service, hotel, 'an OTA');
    assert.deepEqual(await namesOf('channel.created'), [ownerName, 'an OTA']);
    await owner({ label: 'Till' }, 'POST', '/v1/third-party/credentials/');
    assert.deepEqual(await namesOf('credential.created'), [ownerName, 'Till']);
    await register(service, hotel.partner, 'https://partner.example/hook');
    assert.deepEqual(await namesOf('webhook.registered'), ['A platform', 'A platform']);
    await owner({ label: 'Kitchen', areas: [] }, 'POST', '/v1/staff/displays/');
    assert.deepEqual(await namesOf('display.created'), [ownerName, 'Kitchen']);
    await owner({ price: '3.10' }, 'PATCH', '/v1/staff/dishes/WATER/');
    assert.deepEqual(await namesOf('dish.changed'), [ownerName, 'Water']);
    await owner({ reason: 'oven' }, 'POST', '/v1/staff/pause/');
    assert.deepEqual(await namesOf('pause.started'), [ownerName, hotel.document.name]);
    await owner(undefined, 'DELETE', '/v1/staff/pause/');
    await owner({ min_nights: 2 }, 'PATCH', `/v1/staff/rate-plans/${hotel.plans['Double/Flexible']}/`);
    assert.deepEqual(await namesOf('rate_plan.changed'), [ownerName, 'Double / Flexible']);
    await owner({ physical_capacity: 9 }, 'PATCH', `/v1/staff/room-types/${hotel.roomTypes['Double']}/`);
    assert.deepEqual(await namesOf('room_type.changed'), [ownerName, 'Double']);
    const [check_in, check_out] = [dayAhead(5), dayAhead(8)];
    const stay = {
      request_id: newId(),
      room_type_id: hotel.roomTypes['Double'],
      check_in,
      check_out,
      guest: { name: 'Inês Duarte' },
    };
    await owner(stay, 'POST', '/v1/staff/reservations/');
    assert.deepEqual(await namesOf('reservation.booked'), [ownerName, 'Inês Duarte']);
    const person = await addPerson(service, hotel, { name: 'Tiago Lopes' });
    assert.deepEqual(await namesOf('user.created'), [ownerName, 'Tiago Lopes']);
    await owner({ is_active: false }, 'PATCH', `/v1/staff/people/${person.id}/`);
    assert.deepEqual(await namesOf('user.disabled'), [ownerName, 'Tiago Lopes']);
    const headers = await pmsHeaders(service, hotel);
    const json = { rate_plan_id: hotel.plans['Double/Flexible'], rates: [{ date: '2030-02-01', price: '99.50' }] };
    assert.equal((await service.call('PUT', `${PMS}/rates/`, { headers, json })).status, 200);
    const [label, plan] = await namesOf('rates.written');
    assert.deepEqual([typeof label, plan], ['string', 'Double / Flexible']);
    assert.deepEqual(await namesOf('tenant.applied'), [null, hotel.document.name]);
  });

  it('200: the audit entry of an ended session has the name of its person or display as subject label', async () => {
    const own = await service.tenant();
    const session = await openSession(service, own.tenantId, 'staff');
    const display = await openDisplay(service, own.tenantId, []);
    for (const id of [session.id, display.id]) {
      const ended = await service.call('POST', `/v1/staff/sessions/${id}/end/`, { headers: own.owner });
      assert.equal(ended.status, 200, ended.text);
    }
    const [ofDisplay, ofPerson] = await found({ action: 'session.ended' }, own);
    assert.equal(ofPerson?.subject_label, `staff@${own.document.slug}.example`);
    assert.ok(ofDisplay?.subject_label);
    assert.notEqual(ofDisplay.subject_label, ofPerson?.subject_label);
  });

  it('200: an audit entry shows the present names of its actor and subject, even if these names were different when the entry was written', async () => {
    const own = await service.tenant();
    const id = await personId(service, own.tenantId, 'owner');
    await service.call('POST', '/v1/third-party/credentials/', { headers: own.owner, json: { label: 'Till' } });
    await service.call('PATCH', '/v1/staff/me/', { headers: own.owner, json: { name: 'Maria Costa' } });
    const [created] = await found({ action: 'credential.created', actor_id: id }, own);
    assert.deepEqual([created?.actor.name, created?.subject_label], ['Maria Costa', 'Till']);
  });

  it('200: an audit entry has no subject label if its action is unknown to this version, or if its subject no longer exists', async () => {
    const own = await service.tenant();
    const entry = { tenant_id: own.tenantId, at: new Date(), actor_type: 'user', actor_id: newId(), details: '{}' };
    await service.database.db
      .insertInto('audit_entry')
      .values([
        { ...entry, id: newId(), action: 'door.opened', subject: own.credential.id },
        { ...entry, id: newId(), action: 'credential.created', subject: newId() },
        { ...entry, id: newId(), action: 'credential.created', subject: 'not an id' },
      ])
      .execute();
    const entries = await found({ actor_id: entry.actor_id }, own);
    assert.deepEqual(
      entries.map(({ actor, subject_label }) => [actor.name, subject_label]),
      [
        [null, null],
        [null, null],
        [null, null],
      ],
    );
  });

  it("200: an audit entry with the id of another tenant's row does not show the name of this row", async () => {
    const own = await service.tenant();
    const id = newId();
    await service.database.db
      .insertInto('audit_entry')
      .values({
        tenant_id: own.tenantId,
        id,
        at: new Date(),
        actor_type: 'credential',
        actor_id: hotel.credential.id,
        action: 'credential.created',
        subject: hotel.credential.id,
        details: '{}',
      })
      .execute();
    const [entry] = await found({ subject: hotel.credential.id }, own);
    assert.deepEqual([entry?.id, entry?.actor.name, entry?.subject_label], [id, null, null]);
  });
});

describe('filters of GET /v1/staff/audit/', () => {
  let own: TestTenant;
  let entries: AuditEntry[];
  before(async () => {
    own = await service.tenant();
    for (const label of ['A', 'B', 'C']) {
      const { body } = await service.call('POST', '/v1/third-party/credentials/', {
        headers: own.owner,
        json: { label },
      });
      await service.call('POST', `/v1/third-party/credentials/${body.id}/revoke/`, { headers: own.owner });
    }
    entries = await found({}, own);
  });

  it('200: the filters action, actor_id and subject each list the audit entries with that value, and combined, the entries that match all three', async () => {
    const id = await personId(service, own.tenantId, 'owner');
    const created = await found({ action: 'credential.created' }, own);
    assert.deepEqual(
      created,
      entries.filter(({ action }) => action === 'credential.created'),
    );
    const ofOwner = await found({ actor_id: id.toUpperCase() }, own);
    assert.deepEqual(
      ofOwner,
      entries.filter(({ actor }) => actor.id === id),
    );
    const subject = ofOwner[0]?.subject ?? '';
    const about = await found({ subject: subject.toUpperCase() }, own);
    assert.deepEqual(
      about.map(({ action }) => action),
      ['credential.revoked', 'credential.created'],
    );
    const exact = await found({ subject, actor_id: id, action: 'credential.created' }, own);
    assert.deepEqual(exact, about.slice(1));
    assert.deepEqual(
      await found({ subject: String(own.tenantId) }, own),
      entries.filter((entry) => entry.subject === String(own.tenantId)),
    );
  });

  it('200: the audit trail is empty if filtered by an unknown action, actor or subject, or by an id of another tenant', async () => {
    for (const query of [
      { action: 'door.opened' },
      { actor_id: newId() },
      { subject: newId() },
      { subject: "'; --" },
      { subject: hotel.credential.id },
    ]) {
      assert.deepEqual(await found(query, own), []);
    }
  });

  it('200: an audit entry at exactly the time `from` is listed, and an entry at exactly the time `to` is not listed', async () => {
    for (const { id, at } of entries) {
      const next = new Date(Date.parse(at) + 1).toISOString();
      const has = async (query: Record<string, string>) => (await found(query, own)).some((entry) => entry.id === id);
      assert.deepEqual([await has({ from: at }), await has({ from: next })], [true, false]);
      assert.deepEqual([await has({ to: at }), await has({ to: next })], [false, true]);
      assert.ok(await has({ from: at, to: next }));
    }
    assert.deepEqual(await found({ from: '9999-12-31T23:59:59Z' }, own), []);
    assert.deepEqual(await found({ to: '0001-01-01T00:00:00Z' }, own), []);
  });
});
