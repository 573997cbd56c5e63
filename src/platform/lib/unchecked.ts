// The functions of this file read a value whose type is unknown, because no schema has checked it yet.

/** Returns the value itself if it is an object, and an empty object for every other value. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the value itself if it is a list, and an empty list for every other value. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
