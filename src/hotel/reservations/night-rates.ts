import type { ChangeActor } from '#access/actors/actors.ts';
import { type DatedEntry, readDatedEntries } from '#access/audit/audit.ts';
import type { Db } from '#platform/db/database.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type { NightChange } from './night-change.ts';
import type { NightChangeKind } from './night-schema.ts';
import type { NightKey } from './night-store.ts';

/** Largest number of audit entries that are read. An entry may hold a thousand prices. */
const MAX_WRITES = 50;

/** Value that the history knows of one rate plan for the night. Undefined if no read entry has written it. */
interface Known {
  price?: string;
  isClosed?: boolean;
}

/**
 * Functions that read, from an audit entry with this action, what it wrote for the night. To show the changes of another action in the
 * history of a night, add the action here.
 */
const READERS: Record<string, (written: Record<string, unknown>) => Known> = {
  'rates.written': ({ price, is_sold_out }) => ({
    price: formatMoney(String(price)),
    isClosed: is_sold_out === true,
  }),
  'restrictions.written': ({ stop_sell }) => ({ isClosed: stop_sell === true }),
};

/**
 * Reads the changes of price and stop-sell of a night, from the audit trail. A write that repeats the known value is no change, because many
 * channel managers send all values every night.
 * @param planIds rate plans of the room type
 */
export async function readRateChanges(db: Db, { tenantId, date }: NightKey, planIds: string[]): Promise<NightChange[]> {
  const wanted = { subjects: planIds, actions: Object.keys(READERS), date, limit: MAX_WRITES };
  const entries = await readDatedEntries(db, tenantId, wanted);
  const known = new Map<string, Known>();
  return entries.reverse().flatMap((entry) => {
    const written = writtenBy(entry);
    const before = known.get(entry.subject) ?? {};
    known.set(entry.subject, { ...before, ...written });
    return kindsOf(before, written).map((what) => ({
      id: entry.id,
      at: entry.at,
      what,
      actor: actorOfEntry(entry),
      added: 0,
      externalSource: null,
      isRecorded: true,
    }));
  });
}

/** Returns what the entry wrote for the night. If a call names the night more than once, its last value was written (decision 29). */
function writtenBy({ action, dated }: DatedEntry): Known {
  const last = dated.at(-1);
  return last === undefined ? {} : (READERS[action]?.(last) ?? {});
}

/** A night is open until an entry closes it, as far as the history knows. */
function kindsOf(before: Known, { price, isClosed }: Known): NightChangeKind[] {
  return [
    ...(price !== undefined && price !== before.price ? (['price'] as const) : []),
    ...(isClosed !== undefined && isClosed !== (before.isClosed ?? false) ? (['stop_sell'] as const) : []),
  ];
}

function actorOfEntry({ actor_type: type, actor_id: id }: DatedEntry): ChangeActor {
  const types: Record<string, ChangeActor['type']> = { user: 'person', credential: 'partner' };
  return { type: types[type] ?? 'operator', id };
}
