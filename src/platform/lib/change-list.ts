import { isDeepStrictEqual } from 'node:util';

/** One thing that a tenant document adds, changes or takes away, as the operator and the audit trail are told. Never a secret. */
export interface Change {
  /** What kind of thing: `user`, `dish`, `room type` … */
  what: string;
  /** Its key in the document; that of a room type or rate plan with what it belongs to in front. */
  name: string;
  change: 'added' | 'changed' | 'disabled' | 'enabled' | 'removed';
  /** What of it has changed, beside being enabled or disabled. */
  fields: FieldChange[];
}

/** The values are told where they are short; those of a password never. */
export interface FieldChange {
  field: string;
  from?: unknown;
  to?: unknown;
}

/** A thing as it was and as it will be; undefined: it is not there. */
export interface Difference<Thing> {
  before: Thing | undefined;
  after: Thing | undefined;
}

/** Fields that stand for something else: the place of a thing, what it belongs to, whether it is enabled, when it was written. */
const UNTOLD = new Set(['id', 'position', 'property_id', 'room_type_id', 'is_active', 'created_at', 'updated_at']);
/** Characters of JSON. */
const LONGEST_TOLD = 100;

/** Tells what differs, thing by thing; and, once for all that were only moved, that their order has changed. */
export function tellChanges<Thing extends { position: number }>(
  what: string,
  differences: Difference<Thing>[],
  nameOf: (thing: Thing) => string,
): Change[] {
  const changes = differences.flatMap((difference) => tellChange(what, difference, nameOf));
  const order = { what, name: '', change: 'changed' as const, fields: [{ field: 'order' }] };
  return isReordered(differences) ? [...changes, order] : changes;
}

function tellChange<Thing extends object>(
  what: string,
  { before, after }: Difference<Thing>,
  nameOf: (thing: Thing) => string,
): Change[] {
  if (before === undefined || after === undefined) {
    const thing = before ?? after;
    const change = before === undefined ? 'added' : 'removed';
    return thing === undefined ? [] : [{ what, name: nameOf(thing), change, fields: [] }];
  }
  const fields = tellFields(before, after);
  const [wasActive, isActive] = [isActiveThing(before), isActiveThing(after)];
  if (wasActive !== isActive) {
    return [{ what, name: nameOf(after), change: isActive ? 'enabled' : 'disabled', fields }];
  }
  return fields.length === 0 ? [] : [{ what, name: nameOf(after), change: 'changed', fields }];
}

/** The fields whose values differ. */
export function tellFields(before: object, after: object): FieldChange[] {
  const earlier = new Map(Object.entries(before));
  return Object.entries(after)
    .filter(([field, to]) => !UNTOLD.has(field) && !isDeepStrictEqual(earlier.get(field), to))
    .map(([field, to]) => {
      const from: unknown = earlier.get(field);
      return isShort(from) && isShort(to) ? { field, from, to } : { field };
    });
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= LONGEST_TOLD;
}

function isActiveThing(thing: object): boolean {
  return !('is_active' in thing) || thing.is_active === true;
}

/** Whether things that differ in nothing but their place follow one another otherwise than before. */
function isReordered<Thing extends { position: number }>(differences: Difference<Thing>[]): boolean {
  const places = differences.flatMap(({ before, after }) =>
    before !== undefined && after !== undefined && isDeepStrictEqual({ ...before, position: after.position }, after)
      ? [{ earlier: before.position, now: after.position }]
      : [],
  );
  const inOrder = places.sort((one, other) => one.earlier - other.earlier);
  return inOrder.some(({ now }, index) => now < (inOrder[index - 1]?.now ?? now));
}
