import type { AuditAction } from '#access/audit/audit.ts';
import type { Staff } from '#access/tenants/tenants.ts';

/** Areas whose callers get the hints of each topic, because they may read its data. Owners get all hints. */
const AUDIENCES = {
  orders: ['orders'],
  reservations: ['hotel'],
  events: ['deliveries'],
  menu: ['menu'],
  rooms: ['hotel', 'rates'],
  rates: ['hotel', 'rates'],
  credentials: [],
  people: [],
  pause: 'all',
} as const satisfies Record<string, readonly Staff['areas'][number][] | 'all'>;

export type Topic = keyof typeof AUDIENCES;
export const TOPICS = Object.keys(AUDIENCES) as Topic[];

export function hears({ role, areas }: Pick<Staff, 'role' | 'areas'>, topic: Topic): boolean {
  const audience: readonly string[] | 'all' = AUDIENCES[topic];
  return role === 'owner' || audience === 'all' || areas.some((area) => audience.includes(area));
}

type SubjectOf<Action> = Action extends `${infer Subject}.${string}` ? Subject : never;

/** Topic that an entry of the audit trail changes, by the first part of its action. Other sources report the other changes. */
const TOPIC_OF_AUDIT: Partial<Record<SubjectOf<AuditAction>, Topic>> = {
  channel: 'credentials',
  credential: 'credentials',
  webhook: 'credentials',
  display: 'people',
  session: 'people',
  user: 'people',
  rate_plan: 'rates',
  rates: 'rates',
  restrictions: 'rates',
};

/** Returns the topics that new rows of this kind change (`NewRows`). An order's new status shows as its event. */
export function topicsOfRows(kind: string): readonly Topic[] {
  const [source, subject = ''] = kind.split(/[ .]/);
  if (source === 'event') {
    return subject === 'order' ? ['orders', 'events'] : ['events'];
  }
  if (source === 'audit') {
    return [TOPIC_OF_AUDIT[subject as keyof typeof TOPIC_OF_AUDIT] ?? []].flat();
  }
  return source === 'order' ? ['orders'] : ['reservations'];
}

/** Topics that a recent change without a topic may concern, for example a tenant document. */
const ANY: readonly Topic[] = ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause'];

/** Returns the topics that an entry of the list of recent changes concerns. A later version of the service may write unknown topics. */
export function topicsOfChange(topic: string | null): readonly Topic[] {
  const known = TOPICS.find((each) => each === topic);
  return known === undefined ? ANY : [known];
}
