import { AVAILABILITY, dayAhead } from '../../../support/hotel.ts';
import { MENU } from '../../../support/restaurant.ts';
import type { Actor, Client } from '../client.ts';
import type { BudgetedCall } from '../history.ts';
import type { Random } from '../random.ts';
import type { Partner, RoomName, Tenant } from '../tenants.ts';

/** Returns a simulated client that reads availability, menus, and the lists of deliveries and reservations in the staff API. */
export function readingActor(client: Client, partners: readonly Partner[], random: Random): Actor {
  return {
    name: 'readers',
    paceMs: 300,
    async act() {
      const { tenant, headers } = random.pick(partners);
      const lot = random.below(8);
      const path = lot < 5 ? availabilityPath(tenant, random) : lot === 5 ? MENU : STAFF_LISTS[lot - 6];
      const options = { headers: lot < 6 ? headers : tenant.staff };
      await client.try(tenant, { method: 'GET', path: path ?? MENU, options });
    },
  };
}

const STAFF_LISTS = ['/v1/staff/webhook-deliveries/?limit=50', '/v1/staff/reservations/?limit=50'];

function availabilityPath(tenant: Tenant, random: Random): string {
  const room = random.pick<RoomName>(['Cabin', 'Loft', 'Hall']);
  const query = `room_type_id=${tenant.rooms[room].id}&check_in=${dayAhead(20)}&check_out=${dayAhead(35)}`;
  return `${AVAILABILITY}?${query}`;
}

interface Budgeted {
  client: Client;
  apis: readonly { name: string; url: string; pid: number }[];
  /** Redis server in which all processes count calls together, or undefined if each process counts its own calls. */
  redis: unknown;
  /** Partner whose budget (calls in one minute) the simulated client of `budgetActor` uses up. Null: this client makes no calls. */
  budgeted: Partner | null;
}

/** Returns a simulated client that calls the API processes in turn, and exceeds the call budget of one credential (invariant 8). */
export function budgetActor(world: Budgeted): Actor {
  const { client, apis, redis } = world;
  let turn = 0;
  return {
    name: 'budget',
    paceMs: 140,
    async act() {
      const node = apis[(turn += 1) % apis.length];
      const partner = world.budgeted;
      if (node === undefined || partner === null) {
        return;
      }
      const { credentialId, tenant, headers } = partner;
      const counter = redis === undefined ? `${node.name} ${node.pid}` : `redis for ${credentialId}`;
      const sentAtMs = performance.now();
      const request = { method: 'GET', path: '/v1/third-party/hotels/rooms/', options: { headers } };
      const answer = await client.try(tenant, request, node.url);
      const outcome = outcomeOf(answer?.status);
      client.history.budgetedCalls.push({ counter, sentAtMs, answeredAtMs: performance.now(), outcome });
    },
  };
}

function outcomeOf(status: number | undefined): BudgetedCall['outcome'] {
  if (status === 429) {
    return 'refused';
  }
  return status === 200 ? 'let_in' : 'unknown';
}
