import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPerson } from '#test/support/people.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { openDisplay, personId } from '#test/support/sessions.ts';
import { type ChangeActor, readActorNames } from './actors.ts';

const { service, tenant } = await useRestaurant();
const other = await service.tenant();

async function namesOf(actors: ChangeActor[]): Promise<(string | null)[]> {
  const nameOf = await readActorNames(service.database.db, tenant.tenantId, actors);
  return actors.map((actor) => nameOf(actor).name);
}

describe('readActorNames', () => {
  it("readActorNames returns a person's name, or else the e-mail, and the label of a partner or of a display (a screen of the tenant), even a removed display", async () => {
    const named = await addPerson(service, tenant, { name: 'Rui Matos' });
    const { displayId } = await openDisplay(service, tenant.tenantId, ['orders']);
    const actors: ChangeActor[] = [
      { type: 'person', id: named.id },
      { type: 'person', id: await personId(service, tenant.tenantId, 'owner') },
      { type: 'display', id: displayId },
      { type: 'partner', id: tenant.credential.id },
    ];
    const names = ['Rui Matos', `owner@${tenant.document.slug}.example`, 'Kitchen', 'A platform'];
    assert.deepEqual(await namesOf(actors), names);
    const removed = await service.call('POST', `/v1/staff/displays/${displayId}/remove/`, { headers: tenant.owner });
    assert.equal(removed.status, 200);
    assert.deepEqual(await namesOf(actors), names);
  });

  it('readActorNames returns null as the name of the operator, of the sandbox and of each actor of another tenant', async () => {
    const { displayId } = await openDisplay(service, other.tenantId, []);
    const actors: ChangeActor[] = [
      { type: 'operator', id: null },
      { type: 'sandbox', id: null },
      { type: 'person', id: await personId(service, other.tenantId, 'owner') },
      { type: 'display', id: displayId },
      { type: 'partner', id: other.credential.id },
    ];
    assert.deepEqual(await namesOf(actors), [null, null, null, null, null]);
  });
});
