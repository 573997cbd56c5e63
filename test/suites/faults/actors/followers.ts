import type { Actor, Client } from '../client.ts';
import type { Partner } from '../tenants.ts';

const LIMIT = 50;

/** A simulated partner that reads the feed of its events. After each failure of the service, it continues from its cursor. */
export class Follower {
  readonly partner: Partner;
  readonly eventIds: string[] = [];
  #cursor = '';

  constructor(partner: Partner) {
    this.partner = partner;
  }

  /**
   * Reads the next page.
   * @returns false if the page was empty or the call failed
   */
  async read(client: Client): Promise<boolean> {
    const { tenant, headers } = this.partner;
    const path = `/v1/third-party/events/?after=${this.#cursor}&limit=${LIMIT}`;
    const answer = await client.try(tenant, { method: 'GET', path, options: { headers } });
    if (answer?.status !== 200) {
      return false;
    }
    const { results, next } = answer.body as { results: { event_id: string }[]; next: string };
    this.eventIds.push(...results.map((entry) => entry.event_id));
    this.#cursor = next;
    return results.length > 0;
  }
}

export function followingActor(client: Client, followers: readonly Follower[]): Actor {
  let turn = 0;
  return {
    paceMs: 250,
    async act() {
      await followers[(turn += 1) % followers.length]?.read(client);
    },
  };
}
