import { isDeepStrictEqual } from 'node:util';

/** Change of an entry of a tenant document. The operator sees it and the audit trail stores it, so it contains no secret. */
export interface Change {
  what: string;
  /** Key of the entry in the tenant document, after the names of its parents, for example "Hotel / Double". */
  name: string;
  change: 'added' | 'changed' | 'disabled' | 'enabled' | 'removed';
  /** Changed fields without `is_active`, which `change` tells. */
  fields: FieldChange[];
}

/** Changed field. Both values are missing if one of them is long, and for a password. */
export interface FieldChange {
  field: string;
  from?: unknown;
  to?: unknown;
}

/** `change` tells `is_active`, other entries move `position`, and the others are not part of a tenant document. */
const UNLISTED_FIELDS = new Set([
  'id',
  'position',
  'property_id',
  'room_type_id',
  'is_active',
  'created_at',
  'updated_at',
]);
/** In characters of JSON. If one of the two values is longer, both are left out. */
const MAX_VALUE_LENGTH = 100;

/** Describes entries before and after a change. A new entry has no `before`, and a removed one no `after`. */
export function describeListChanges<Entry extends object>(
  what: string,
  differences: { before: Entry | undefined; after: Entry | undefined }[],
  nameOf: (entry: Entry) => string,
): Change[] {
  return differences.flatMap(({ before, after }): Change[] => {
    if (before === undefined || after === undefined) {
      const entry = before ?? after;
      const change = before === undefined ? 'added' : 'removed';
      return entry === undefined ? [] : [{ what, name: nameOf(entry), change, fields: [] }];
    }
    const fields = describeFields(before, after);
    const isActive = isActiveEntry(after);
    const isSwitched = isActiveEntry(before) !== isActive;
    const change = !isSwitched ? 'changed' : isActive ? 'enabled' : 'disabled';
    return isSwitched || fields.length > 0 ? [{ what, name: nameOf(after), change, fields }] : [];
  });
}

export function describeFields(before: object, after: object): FieldChange[] {
  const earlier = new Map(Object.entries(before));
  return Object.entries(after)
    .filter(([field, to]) => !UNLISTED_FIELDS.has(field) && !isDeepStrictEqual(earlier.get(field), to))
    .map(([field, to]) => {
      const from: unknown = earlier.get(field);
      return isShort(from) && isShort(to) ? { field, from, to } : { field };
    });
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_VALUE_LENGTH;
}

function isActiveEntry(entry: object): boolean {
  return !('is_active' in entry) || entry.is_active === true;
}
