// These functions read a value before a schema has checked it.

/** Returns the fields of an object, and an empty object for every other value. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the list itself, and an empty list for every other value. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
