import type { ChangeActor } from '#access/actors/actors.ts';
import { type PartialEntry, readPartialEntries } from '#access/audit/audit.ts';
import type { Db } from '#platform/db/database.ts';
import type { FieldChange } from '#platform/lib/change-list.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type { NightChange } from './night-change.ts';
import type { NightChangeKind } from './night-schema.ts';
import type { NightKey } from './night-store.ts';

/** Largest number of audit entries that are read for one night. The number is limited, because an entry may hold a thousand prices. */
const MAX_WRITES = 50;

/** Last known values of a rate plan or of the room type for the night. A value is missing if it is in no audit entry that was read. */
interface Known {
  price?: string;
  isClosed?: boolean;
  capacity?: number;
}

/** Values of a night in one audit entry. */
interface Read {
  /** Values before the change. Missing if the entry does not have them. */
  before?: Known;
  written: Known;
}

/**
 * Value of `price` in `Known` if the night has no price of its own, so that the price of the rate plan applies. An audit entry has the
 * price null in this case.
 */
const PRICE_OF_PLAN = 'price of the plan';

/**
 * Functions that read the values of a night from an audit entry, one function for each action. Entries with other actions are not in the
 * history of a night.
 *
 * If you add an action, the subject of its entries must be the room type, one of its rate plans or the tenant. The reason is that
 * `readRateChanges` reads only entries with these subjects.
 */
const READERS: Record<string, (elements: PartialEntry['elements']) => Read> = {
  'rates.written': (elements) =>
    lastOf(elements, ({ price, is_sold_out }) => ({ price: price as string | number, isClosed: is_sold_out === true })),
  'restrictions.written': (elements) => lastOf(elements, ({ stop_sell }) => ({ isClosed: stop_sell === true })),
  'rates.changed': ([night]) => ({ before: stateOf(night?.['before']), written: stateOf(night?.['after']) }),
  'room_type.changed': ([change]) => ({
    before: capacityIn(change?.['before']),
    written: capacityIn(change?.['after']),
  }),
  'tenant.applied': (elements) => ({ written: capacityOf(elements.find(({ what }) => what === 'room type')) }),
};

/** Values of a night that a call wrote. The price is a number or a text, as the caller sent it. */
type Written = Omit<Known, 'price'> & { price?: string | number | undefined };

/**
 * Reads the values of the night from the last of the elements. The elements are the parts of one audit entry that name this night. If a
 * call names the night more than once, its entry has several elements. The service stores only the values of the last element (decision
 * 29).
 */
function lastOf(elements: PartialEntry['elements'], read: (element: Record<string, unknown>) => Written): Read {
  const last = elements.at(-1);
  const { price, ...others } = last === undefined ? {} : read(last);
  return { written: price === undefined ? others : { ...others, price: formatMoney(String(price)) } };
}

/** Reads the price and the stop-sell of one night from the audit entry of a rate change by staff. */
function stateOf(night: unknown): Known {
  const state = night as { price: string | null; is_sold_out: boolean } | undefined;
  return state === undefined ? {} : { price: state.price ?? PRICE_OF_PLAN, isClosed: state.is_sold_out };
}

function capacityIn(values: unknown): Known {
  const { physical_capacity: capacity } = (values ?? {}) as { physical_capacity?: number };
  return capacity === undefined ? {} : { capacity };
}

/** Reads the new capacity from the change of a room type. This change is part of an audit entry with the action `tenant.applied`. */
function capacityOf(change: Record<string, unknown> | undefined): Known {
  const fields = (change?.['fields'] ?? []) as FieldChange[];
  const capacity = fields.find(({ field }) => field === 'physical_capacity')?.to;
  return typeof capacity === 'number' ? { capacity } : {};
}

/**
 * Reads the changes of price, stop-sell and capacity of a night, from the audit trail. Leaves out a write that repeats the known value,
 * because many channel managers send all values again each day.
 * @param planIds rate plans of the room type
 * @param name name of the room type in the audit trail, `property / room type`
 */
export async function readRateChanges(
  db: Db,
  { tenantId, roomTypeId, date }: NightKey,
  planIds: string[],
  name: string,
): Promise<NightChange[]> {
  const subjects = [String(tenantId), roomTypeId, ...planIds];
  const wanted = { subjects, actions: Object.keys(READERS), date, name, limit: MAX_WRITES };
  const entries = await readPartialEntries(db, tenantId, wanted);
  const known = new Map<string, Known>();
  return entries.reverse().flatMap((entry) => {
    const { before: said, written } = READERS[entry.action]?.(entry.elements) ?? { written: {} };
    const before = { ...known.get(entry.subject), ...said };
    known.set(entry.subject, { ...before, ...written });
    return kindsOf(before, written).map((what) => ({
      id: entry.id,
      at: entry.at,
      what,
      actor: actorOfEntry(entry),
      added: 0,
      externalSource: null,
    }));
  });
}

/**
 * Returns the kinds of the values that an entry has changed. If the earlier entries do not tell that the night was closed, it counts as
 * open.
 */
function kindsOf(before: Known, { price, isClosed, capacity }: Known): NightChangeKind[] {
  return [
    ...(price !== undefined && price !== before.price ? (['price'] as const) : []),
    ...(isClosed !== undefined && isClosed !== (before.isClosed ?? false) ? (['stop_sell'] as const) : []),
    ...(capacity !== undefined && capacity !== before.capacity ? (['capacity'] as const) : []),
  ];
}

function actorOfEntry({ actor_type: type, actor_id: id }: PartialEntry): ChangeActor {
  const types: Record<string, ChangeActor['type']> = { user: 'person', display: 'display', credential: 'partner' };
  return { type: types[type] ?? 'operator', id };
}
