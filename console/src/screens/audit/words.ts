type Facts = Record<string, unknown>;

/** What somebody did, for each action of the audit trail. The name of its subject stands in place of the star. */
export const SENTENCES: Record<string, string | ((details: Facts) => string)> = {
  'credential.created': 'made a key for *',
  'credential.changed': 'renamed *',
  'credential.revoked': 'revoked the key of *',
  'credential.rotated': 'rotated the secret of *',
  'channel.created': 'connected the channel *',
  'channel.revoked': 'revoked the channel *',
  'channel.rotated': 'rotated the secret of the channel *',
  'dish.changed': 'changed the dish *',
  'dishes.availability_changed': ({ is_active: isActive, skus }) => {
    if (!Array.isArray(skus)) return 'took dishes off the menu or put them on';
    const dishes = `${skus.length} ${skus.length === 1 ? 'dish' : 'dishes'}`;
    return isActive === true ? `put ${dishes} on the menu` : `took ${dishes} off the menu`;
  },
  'display.created': 'added the display *',
  'display.paired': 'paired the display *',
  'display.removed': 'removed the display *',
  'menu.replaced': 'imported the menu',
  'opening_hours.changed': 'changed the opening hours',
  'pause.started': 'closed the restaurant to new orders',
  'pause.ended': 'opened the restaurant to new orders',
  'webhook.registered': 'registered the webhook of *',
  'webhook.removed': 'removed the webhook of *',
  'webhook.tested': 'sent a test call to the webhook of *',
  'rate_plan.changed': 'changed the rate plan *',
  'rates.changed': 'changed prices, closed or opened nights of *',
  'rates.written': 'wrote prices of *',
  'restrictions.written': 'wrote restrictions of *',
  'reservation.booked': 'booked a stay for *',
  'reservation.changed': 'changed the stay of *',
  'reservation.arrival': ({ arrived }) => (arrived === false ? 'took back the arrival of *' : 'noted the arrival of *'),
  'room_type.changed': 'changed the room type *',
  'session.ended': 'signed out *',
  'sign_in.failed': 'failed to sign in as *',
  'user.created': 'added *',
  'user.changed': 'changed the account of *',
  'user.disabled': 'disabled *',
  'user.enabled': 'enabled *',
  'user.link_created': 'made a one-time link for *',
  'user.password_changed': 'changed the password of *',
  'tenant.applied': 'applied the tenant document',
};

/** A later version of the service may write actions that this one does not know. */
export function sentenceOf(action: string, details: Facts): string {
  const sentence = SENTENCES[action] ?? `did “${action}” to *`;
  return typeof sentence === 'string' ? sentence : sentence(details);
}

/** Ids, and what the sentence says already. */
const UNTOLD = /^(?:label|source|email|audience|is_active|.*_id)$/;
const WITHOUT_KEY = /^(?:changes|fields|entries|change|what|name|date|skus)$/;
/** A night is closed or open, as on the calendar. */
const CLOSING = /^(?:is_sold_out|stop_sell)$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d):\d\d\.\d+Z)?$/;
const day = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });
const MOST = 5;

/** Details of an action in words, for example `price: 10.00 → 12.00`. */
export function factsOf({ before, after, ...rest }: Facts): string[] {
  const told = Object.entries(rest).filter(([key, value]) => !UNTOLD.test(key) && textOf(value) !== 'none');
  const changes = Object.entries(after ?? {}).map(([field, to]) => ({ field, from: (before as Facts)[field], to }));
  return [...told.map(toldOf), ...changes.filter(({ from, to }) => from !== to).map(textOf)];
}

function toldOf([key, value]: [string, unknown]): string {
  if (CLOSING.test(key)) return value === true ? 'closed' : 'open';
  return WITHOUT_KEY.test(key) ? textOf(value) : `${wordOf(key)}: ${textOf(value)}`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    const more = value.length > MOST ? [`${value.length - MOST} more`] : [];
    return [...value.slice(0, MOST).map(textOf), ...more].join(', ');
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value.replace(DATE, dayInWords);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? `${value}` : 'none';
  const { field, from, to } = value as { field?: string; from?: unknown; to?: unknown };
  if (field !== undefined && CLOSING.test(field)) return to === true ? 'closed' : 'opened';
  // A night without a price of its own has the base price of its plan.
  const sideOf = (side: unknown) => (field === 'price' && side === null ? 'base' : textOf(side));
  const change = 'from' in value ? `${sideOf(from)} → ${sideOf(to)}` : undefined;
  if (field !== undefined) return change === undefined ? wordOf(field) : `${wordOf(field)}: ${change}`;
  const told = factsOf(value as Facts).filter((fact) => fact !== '');
  return change ?? told.join(' ');
}

function dayInWords(text: string, date: string, clock?: string): string {
  if (Number.isNaN(Date.parse(date))) return text;
  return `${day.format(new Date(date))}${clock ? ` ${clock} UTC` : ''}`;
}

function wordOf(key: string): string {
  return key === 'physical_capacity' ? 'rooms' : key.replaceAll('_', ' ');
}
