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

/** Topics that a recent change without a topic may concern, for example a tenant document. */
const ANY: readonly Topic[] = ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause'];

/** Returns the topics that an entry of the list of recent changes concerns. A later version of the service may write unknown topics. */
export function topicsOfChange(topic: string | null): readonly Topic[] {
  const known = TOPICS.find((each) => each === topic);
  return known === undefined ? ANY : [known];
}
