import type { Actor, Client } from '../client.ts';
import type { Partner } from '../tenants.ts';

const LIMIT = 50;

/** A partner's program that reads the feed of its events, and goes on from where it was, whatever happens to the service. */
export class Follower {
  readonly partner: Partner;
  /** In the order in which they came. */
  readonly eventIds: string[] = [];
  #cursor = '';

  constructor(partner: Partner) {
    this.partner = partner;
  }

  /** Reads on by one page. @returns whether there was anything new */
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

  async readToEnd(client: Client): Promise<void> {
    while (await this.read(client));
  }
}

export function followingActor(client: Client, followers: readonly Follower[]): Actor {
  let turn = 0;
  return {
    name: 'followers',
    paceMs: 250,
    async act() {
      await followers[(turn += 1) % followers.length]?.read(client);
    },
  };
}
