import { findTextFault } from '#platform/http/decode/text.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';

/** Returns a fault for each text of the document that the database cannot store, such as a text with U+0000. */
export function textFaults(value: unknown, path: string[] = []): string[] {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    return fault === undefined ? [] : [`${path.join('.') || 'document'}: contains ${fault}`];
  }
  return Object.entries(fieldsOf(value)).flatMap(([key, entry]) => textFaults(entry, [...path, key]));
}

/** Returns true if the value is a text that the database can store. */
export function isStorable(value: unknown): value is string {
  return typeof value === 'string' && findTextFault(value) === undefined;
}
