import { AVAILABILITY, dayAhead } from '../../../support/hotel.ts';
import { type World, waitUntil } from '../world.ts';
import type { Invariant } from './invariant.ts';

const SETTLED_WITHIN_MS = 60_000;
const PROMPT_MS = 1_000;

/** Invariant 9. No response, webhook or log line contains data of another tenant. */
export const tenantsStayApart: Invariant = {
  promise: '9 no tenant sees data of another',
  async check(world, { fromMs }) {
    for (const posts of world.posts.byEvent.values()) {
      for (const { url, body } of posts.filter(({ atMs }) => atMs >= fromMs)) {
        const partner = world.partners.find(({ webhookUrl }) => webhookUrl === url);
        if (partner !== undefined) {
          world.history.findLeak(partner.tenant, body, `a webhook to ${url}`);
        }
      }
    }
    return world.history.leaks.splice(0);
  },
};

/** Invariant 10. A minute after the fault no caller waits, and no transaction or lock is left open. `checkResources` checks the rest. */
export const allIsQuiet: Invariant = {
  promise: '10 no work is left afterwards',
  async check(world) {
    let left: string[] = [];
    await waitUntil(async () => (left = await leftOvers(world)).length === 0, SETTLED_WITHIN_MS, 250);
    const { unsettled } = world.history;
    return [...left, ...unsettled.splice(0).map((call) => `a caller got no decisive response: ${call}`)];
  },
};

async function leftOvers(world: World): Promise<string[]> {
  const { tenant, headers } = world.witness.partner;
  const days = `check_in=${dayAhead(20)}&check_out=${dayAhead(21)}`;
  const path = `${AVAILABILITY}?room_type_id=${tenant.rooms.Cabin.id}&${days}`;
  const open = await world.postgres.query<{ session: string }>(`
    SELECT format('session %s is %s since %s: %s', pid, state, coalesce(xact_start, query_start), query) AS session
    FROM pg_stat_activity
    WHERE application_name LIKE 'roomservice%' AND (state LIKE 'idle in transaction%' OR wait_event_type = 'Lock'
      OR (state = 'active' AND query_start < now() - interval '1 second'))
  `);
  const slow = await Promise.all(
    world.apis.map(async ({ name, url }) => {
      const beganAtMs = performance.now();
      const answer = await world.client.try(tenant, { method: 'GET', path, options: { headers } }, url);
      const tookMs = Math.round(performance.now() - beganAtMs);
      const isPrompt = answer?.status === 200 && tookMs < PROMPT_MS;
      return isPrompt ? [] : [`${name} responds with ${answer?.status} after ${tookMs} ms`];
    }),
  );
  return [...open.map(({ session }) => session), ...slow.flat()];
}
