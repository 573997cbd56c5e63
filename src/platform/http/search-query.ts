import { invalidField } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { digitsOf } from '../lib/unicode.ts';

/** Largest number of ids in the query parameter `ids`. */
export const MAX_IDS = 50;

const UUID_PATTERN = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** Pattern of the query parameter `ids` for the OpenAPI documents. The service itself checks the parameter with `readIds`. */
export const IDS_PATTERN = `^${UUID_PATTERN}(,${UUID_PATTERN}){0,${MAX_IDS - 1}}$`;

/**
 * Reads a time from a query parameter, for a comparison with `>=` or `<` with the times of list entries. Those times are whole
 * milliseconds. So a time between two milliseconds can be rounded up, because both comparisons then still have the same result.
 * @returns milliseconds of Unix time, at least 0
 */
export function readBound(time: string): number {
  const isBetween = /\.\d{3}0*[1-9]/.test(time);
  return Math.max(0, Date.parse(time) + (isBetween ? 1 : 0));
}

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
 * Returns the digits of the query parameter `phone`, as 0 to 9. A search compares only the digits, so a text without digits is refused.
 * @throws ApiError 400 `invalid_request`
 */
export function readPhone(text: string): string {
  const digits = digitsOf(text);
  if (digits === '') {
    throw invalidField('phone', 'must have at least one digit');
  }
  return digits;
}
