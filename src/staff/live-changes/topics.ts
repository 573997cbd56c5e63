import type { AuditAction } from '#access/audit/audit.ts';
import type { Staff } from '#access/tenants/tenants.ts';

/**
 * Kinds of data that a hint of live changes names, in the order in which a hint lists them. A hint is a message without data: "something
 * has changed".
 */
export const TOPICS = [
  'orders',
  'reservations',
  'events',
  'menu',
  'rooms',
  'rates',
  'credentials',
  'people',
  'pause',
] as const;
export type Topic = (typeof TOPICS)[number];

type Area = Staff['areas'][number];

/**
 * Callers who get hints (messages that data has changed) of each topic, because they may read its data. Owners get the hints of every
 * topic. The values mean:
 * - A list of areas (parts of the staff API): also staff and displays with at least one of these areas.
 * - `owners`: only owners.
 * - `all`: all callers of the tenant.
 */
const AUDIENCES: Record<Topic, readonly Area[] | 'owners' | 'all'> = {
  orders: ['orders'],
  reservations: ['hotel'],
  events: ['deliveries'],
  menu: ['menu'],
  rooms: ['hotel', 'rates'],
  rates: ['hotel', 'rates'],
  credentials: 'owners',
  people: 'owners',
  pause: 'all',
};

/** Returns the topics (kinds of data) of which the caller gets hints. */
export function topicsOf({ role, areas }: Pick<Staff, 'role' | 'areas'>): ReadonlySet<Topic> {
  const isHeard = (topic: Topic) => {
    const audience = AUDIENCES[topic];
    if (audience === 'all' || role === 'owner') {
      return true;
    }
    return audience !== 'owners' && audience.some((area) => areas.includes(area));
  };
  return new Set(TOPICS.filter(isHeard));
}

/**
 * Topic of the hint for each action of the audit trail. Null if the hint comes from another source, or if the action changes no data that
 * staff see. If a new action has no entry here, the code does not compile.
 */
const TOPIC_OF_ACTION: Record<AuditAction, Topic | null> = {
  'credential.changed': 'credentials',
  'credential.created': 'credentials',
  'channel.created': 'credentials',
  'channel.revoked': 'credentials',
  'channel.rotated': 'credentials',
  'webhook.registered': 'credentials',
  'webhook.removed': 'credentials',
  'webhook.tested': null,
  'display.created': 'people',
  'display.paired': 'people',
  'display.removed': 'people',
  'session.ended': 'people',
  'user.created': 'people',
  'user.changed': 'people',
  'user.disabled': 'people',
  'user.enabled': 'people',
  'user.link_created': 'people',
  'user.password_changed': 'people',
  // The hints of these changes come from the list of recent changes.
  'credential.revoked': null,
  'credential.rotated': null,
  'dish.changed': null,
  'dishes.availability_changed': null,
  'menu.replaced': null,
  'opening_hours.changed': null,
  'pause.started': null,
  'pause.ended': null,
  'rate_plan.changed': null,
  'rates.changed': null,
  'rates.written': null,
  'restrictions.written': null,
  'room_type.changed': null,
  'tenant.applied': null,
  // The actions of reservations need no topic. Each look (a read of the newest rows) also reads the reservations with the latest changes.
  'reservation.arrival': null,
  'reservation.booked': null,
  'reservation.changed': null,
  'sign_in.failed': null,
};

/**
 * Returns the topic (kind of data) that an action of the audit trail changes. Returns null in these cases:
 * - The service finds the change in another place, for example in the list of recent changes.
 * - The action changes no data that staff see.
 * - Only a later version of the service knows the action.
 */
export function topicOfAction(action: string): Topic | null {
  return action in TOPIC_OF_ACTION ? TOPIC_OF_ACTION[action as AuditAction] : null;
}

/**
 * Topics that a recent change without a topic may concern. If a tenant document was applied, its change has no topic, because the document
 * describes the whole tenant and may change all these kinds of data. A change also has no topic if an earlier version of the service made
 * the change.
 */
const ANY: readonly Topic[] = ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause'];

/**
 * Returns the topics (kinds of data) that a recent change may concern.
 * @param topic topic of the change. If the topic is null or unknown, the change may concern all topics of `ANY`
 */
export function topicsOfChange(topic: string | null): readonly Topic[] {
  const known = TOPICS.find((each) => each === topic);
  return known === undefined ? ANY : [known];
}
