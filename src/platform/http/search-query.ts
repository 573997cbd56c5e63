import { invalidField } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';

/** Largest number of ids in the query parameter `ids`. */
export const MAX_IDS = 50;

/**
 * Reads the query parameter `ids`, which has ids with commas between them.
 * @throws ApiError 400 `invalid_request`
 */
export function readIds(text: string): string[] {
  const ids = text.split(',', MAX_IDS + 1);
  if (ids.length > MAX_IDS || !ids.every(isUuid)) {
    throw invalidField('ids', `must be 1 to ${MAX_IDS} UUIDs with commas between them`);
  }
  return ids;
}

/**
 * Reads the query parameter `phone`. A search compares only the digits, so a text without digits would find nothing that the caller means.
 * @throws ApiError 400 `invalid_request`
 */
export function readPhone(text: string): string {
  if (!/[0-9]/.test(text)) {
    throw invalidField('phone', 'must have at least one digit');
  }
  return text;
}
