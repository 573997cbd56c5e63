import type { AuditAction } from '#access/audit/audit.ts';
import type { Staff } from '#access/tenants/tenants.ts';

/** Kinds of data that a hint names, in the order in which a hint lists them. */
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

/** Callers who hear of a topic: those with one of the areas, only owners, or all. They are the callers who may read the data of the topic. */
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

/** Returns the topics of which the caller hears. */
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
 * Topic of each action of the audit trail. Null if another source tells of the change, or if it changes nothing that staff see. A new action
 * does not compile without a decision here.
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
  // The list of recent changes tells of these changes.
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
  // The index of changed stays tells of these changes.
  'reservation.arrival': null,
  'reservation.booked': null,
  'reservation.changed': null,
  'sign_in.failed': null,
};

/** @param action action of an audit entry, perhaps of a later version of the service */
export function topicOfAction(action: string): Topic | null {
  return action in TOPIC_OF_ACTION ? TOPIC_OF_ACTION[action as AuditAction] : null;
}

/** Topics of a recent change without a topic: a tenant document, or a change by an earlier version. It may concern all data that is announced. */
const ANY: readonly Topic[] = ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause'];

/** @param topic topic of a recent change. Null if the change may concern any data. */
export function topicsOfChange(topic: string | null): readonly Topic[] {
  const known = TOPICS.find((each) => each === topic);
  return known === undefined ? ANY : [known];
}
