import type { Invariant } from './invariant.ts';

/**
 * A partner that reads the feed continuously gets each of its events exactly once, even if an event is committed after events with greater
 * ids.
 */
export const feedIsWhole: Invariant = {
  promise: 'the feed shows every event once',
  lookAt: 'src/webhooks/events/feed.ts',
  async check({ followers, client, postgres }) {
    const breaches: string[] = [];
    for (const follower of followers) {
      await follower.readToEnd(client);
      const { credentialId } = follower.partner;
      const rows = await postgres.query<{ id: string }>(`SELECT id FROM event WHERE credential_id = '${credentialId}'`);
      const read = new Set(follower.eventIds);
      const skipped = rows.filter(({ id }) => !read.has(id));
      breaches.push(...skipped.map(({ id }) => `the feed of ${credentialId} skipped ${id}`));
      if (read.size < follower.eventIds.length) {
        breaches.push(`the feed of ${credentialId} showed ${follower.eventIds.length - read.size} events twice`);
      }
      if (read.size > rows.length) {
        breaches.push(`the feed of ${credentialId} showed ${read.size} events, but the database has ${rows.length}`);
      }
    }
    return breaches;
  },
};
