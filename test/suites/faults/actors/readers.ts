import { AVAILABILITY, dayAhead, ROOMS } from '../../../support/hotel.ts';
import { MENU } from '../../../support/restaurant.ts';
import type { Actor } from '../client.ts';
import type { RoomName } from '../tenants.ts';
import type { World } from '../world.ts';

export function readingActor({ client, partners, random }: World): Actor {
  return {
    paceMs: 300,
    async act() {
      const { tenant, headers } = random.pick(partners);
      const room = random.pick<RoomName>(['Cabin', 'Loft', 'Hall']);
      const days = `check_in=${dayAhead(20)}&check_out=${dayAhead(35)}`;
      const ofPartner = [`${AVAILABILITY}?room_type_id=${tenant.rooms[room].id}&${days}`, MENU];
      const ofStaff = ['/v1/staff/webhook-deliveries/?limit=50', '/v1/staff/reservations/?limit=50'];
      const isPartner = random.next() < 0.75;
      const path = random.pick(isPartner ? ofPartner : ofStaff);
      const options = { headers: isPartner ? headers : tenant.staff };
      await client.try(tenant, { method: 'GET', path, options });
    },
  };
}

/** Returns a simulated client that calls the API processes in turn, and exceeds the call budget of one credential (invariant 8). */
export function budgetActor(world: World): Actor {
  const { client, apis, redis } = world;
  let turn = 0;
  return {
    paceMs: 140,
    async act() {
      const node = apis[(turn += 1) % apis.length];
      const partner = world.budgeted;
      if (node === undefined || partner === null) {
        return;
      }
      const { credentialId, tenant, headers } = partner;
      const counter = redis === undefined ? `${node.name} ${node.child?.pid}` : `redis for ${credentialId}`;
      const sentAtMs = performance.now();
      const answer = await client.try(tenant, { method: 'GET', path: ROOMS, options: { headers } }, node.url);
      const outcome = answer?.status === 429 ? 'refused' : answer?.status === 200 ? 'let_in' : 'unknown';
      client.history.budgetedCalls.push({ counter, sentAtMs, answeredAtMs: performance.now(), outcome });
    },
  };
}
