import type { AuditSubject } from '#access/audit/audit.ts';
import type { Area, Staff } from '#access/tenants/tenants.ts';

/** Kinds of changes that a look finds. A subject of the audit trail is one too. */
export type Source = 'order' | 'order_event' | 'event' | 'stay' | AuditSubject;

interface Rule {
  /** Areas whose callers get the hints of a topic, because they may read its data. Owners get all hints. */
  areas: readonly Area[] | 'all';
  sources: readonly Source[];
}

/** The document of a tenant, whose subject is `tenant`, may change most topics. */
const RULES = {
  orders: { areas: ['orders'], sources: ['order', 'order_event'] },
  reservations: { areas: ['hotel'], sources: ['stay'] },
  events: { areas: ['deliveries'], sources: ['event', 'order_event'] },
  menu: { areas: ['menu'], sources: ['dish', 'dishes', 'menu', 'tenant'] },
  rooms: { areas: ['hotel', 'rates'], sources: ['room_type', 'tenant'] },
  rates: { areas: ['hotel', 'rates'], sources: ['rate_plan', 'rates', 'restrictions', 'tenant'] },
  credentials: { areas: [], sources: ['channel', 'credential', 'webhook', 'tenant'] },
  people: { areas: [], sources: ['display', 'session', 'user', 'tenant'] },
  pause: { areas: 'all', sources: ['opening_hours', 'pause', 'tenant'] },
} as const satisfies Record<string, Rule>;

type Topic = keyof typeof RULES;
export const TOPICS = Object.keys(RULES) as Topic[];

/** Returns the topics of the sources that have changed, without those that the caller may not read. */
export function topicsOf(changed: ReadonlySet<Source>, { role, areas }: Staff): Topic[] {
  return TOPICS.filter((topic) => {
    const rule: Rule = RULES[topic];
    const mayRead = role === 'owner' || rule.areas === 'all' || rule.areas.some((area) => areas.includes(area));
    return mayRead && rule.sources.some((source) => changed.has(source));
  });
}
