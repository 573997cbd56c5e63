import { findTextFault } from '#platform/http/decode/text.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';

/** Texts that the database could not store, anywhere in the document. */
export function textFaults(value: unknown, path: string[] = []): string[] {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    return fault === undefined ? [] : [`${path.join('.') || 'document'}: holds ${fault}`];
  }
  return Object.entries(fieldsOf(value)).flatMap(([key, entry]) => textFaults(entry, [...path, key]));
}

export function isStorable(value: unknown): value is string {
  return typeof value === 'string' && findTextFault(value) === undefined;
}
