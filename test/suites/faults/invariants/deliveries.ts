import { createHmac } from 'node:crypto';
import type { EventRow } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { Partner } from '../tenants.ts';
import { healthyUrls, type World } from '../world.ts';
import { parseEvent } from './events.ts';
import type { Evidence, Invariant } from './invariant.ts';

const MAX_ATTEMPTS = 5;
/** Maximum time from the arrival of an accepted POST until the service has recorded the outcome of the attempt. */
const RECORDED_WITHIN_MS = 2_000;

/**
 * Invariant 5, as the receivers see it. Each event arrives at most five times, always with the stored body and a valid signature, and only
 * at its own receiver.
 */
export const postsAreRight: Invariant = {
  promise: '5 webhooks at the receivers',
  async check(world, evidence) {
    const events = new Map(evidence.events.map((event) => [event.id, event]));
    return [...evidence.postsBefore].flatMap(([eventId, posts]) => {
      const event = events.get(eventId);
      return event === undefined ? [`event ${eventId} was posted but never committed`] : faultsOf(world, event, posts);
    });
  },
};

/**
 * Invariant 5, as the database shows it. The final status of every delivery agrees with its attempts and with the POSTs that the receiver
 * got.
 */
export const deliveriesEnd: Invariant = {
  promise: '5 webhooks in the database',
  async check(world, evidence) {
    const healthy = healthyUrls(world);
    const ends = evidence.events.flatMap((event) => {
      const partner = world.knownPartners.get(event.credential_id ?? '');
      const fault =
        event.body === null ? 'is missing in the database' : faultOfEnd(world, evidence, event, partner, healthy);
      return fault === null ? [] : [`event ${event.id} of ${partner?.webhookUrl ?? event.credential_id}: ${fault}`];
    });
    const withoutEvent = await world.postgres.query<{ id: string }>(
      'SELECT id FROM delivery AS d WHERE NOT EXISTS (SELECT FROM event WHERE tenant_id = d.tenant_id AND id = d.id)',
    );
    return [...ends, ...withoutEvent.map(({ id }) => `delivery ${id} has no event`)];
  },
};

function faultsOf(world: World, event: EventRow, posts: Post[]): string[] {
  const partner = world.knownPartners.get(event.credential_id ?? '');
  const attempts = event.attempt_count ?? 0;
  const name = `event ${event.id}`;
  return [
    ...(posts.length > MAX_ATTEMPTS ? [`${name} was posted ${posts.length} times`] : []),
    ...(posts.length > attempts
      ? [`${name} was posted ${posts.length} times, but ${attempts} attempts are counted`]
      : []),
    ...(posts.some(({ body }) => body !== event.body)
      ? [`${name} was posted with another body than the stored one`]
      : []),
    ...(parseEvent(event.body ?? '').event_id === event.id ? [] : [`${name} has another id in its body`]),
    ...(partner === undefined ? [] : posts.flatMap((post) => faultsOfPost(name, partner, post))),
  ];
}

function faultsOfPost(name: string, { webhookSecret, webhookUrl }: Partner, post: Post): string[] {
  const expected = createHmac('sha256', webhookSecret).update(`${post.timestamp}.${post.body}`).digest('hex');
  return [
    ...(post.url === webhookUrl ? [] : [`${name} went to ${post.url}, but belongs to ${webhookUrl}`]),
    ...(post.signature === `sha256=${expected}` ? [] : [`${name} came with a wrong signature`]),
  ];
}

function faultOfEnd(
  world: World,
  { isLast, postsBefore, gatheredAtMs }: Evidence,
  event: EventRow,
  partner: Partner | undefined,
  healthy: Set<string>,
): string | null {
  const { delivery_status: status, attempt_count: count } = event;
  const attempts = event.attempts ?? [];
  const counted = count ?? 0;
  const posts = world.posts.of(event.id);
  const lastStatus = attempts.at(-1)?.http_status ?? 0;
  if (attempts.length !== counted) {
    return `${counted} attempts are counted, but ${attempts.length} are recorded`;
  }
  switch (status) {
    case null:
      return partner === undefined ? null : 'has no delivery, although a webhook was registered';
    case 'delivered':
      if (lastStatus < 200 || lastStatus > 299)
        return `is delivered, but the status of its last attempt is ${lastStatus}`;
      return partner === undefined || posts.some(({ isAccepted }) => isAccepted)
        ? null
        : 'is delivered, but no receiver accepted it';
    case 'failed':
      return count === MAX_ATTEMPTS ? null : `is failed after ${count} attempts`;
    case 'stopped':
      return world.history.revokedCredentials.has(event.credential_id ?? '')
        ? null
        : 'is stopped, but its credential was not revoked';
    default: {
      const isLate = isOverdue(partner, postsBefore.get(event.id) ?? [], healthy, gatheredAtMs);
      return isLast || isLate ? `is ${status} after ${count} attempts` : null;
    }
  }
}

/**
 * Returns true if a pending delivery to a healthy receiver is overdue: the receiver has got no POST, or has accepted the last one more than
 * 2 s ago. A delivery that waits for a retry is not overdue.
 */
function isOverdue(partner: Partner | undefined, posts: Post[], healthy: Set<string>, atMs: number): boolean {
  if (partner === undefined || !healthy.has(partner.webhookUrl)) {
    return false;
  }
  const last = posts.at(-1);
  return last === undefined || (last.isAccepted && atMs - last.atMs > RECORDED_WITHIN_MS);
}

export async function countOverdue(world: World): Promise<number> {
  const healthy = healthyUrls(world);
  const pending = await world.postgres.query<{ id: string; credential_id: string }>(
    `SELECT id, credential_id FROM delivery WHERE status = 'pending'`,
  );
  return pending.filter(({ id, credential_id }) => {
    return isOverdue(world.knownPartners.get(credential_id), world.posts.of(id), healthy, Date.now());
  }).length;
}
