import Type from 'typebox';
import { invalidField } from '../errors.ts';
import { DOCUMENTED } from '../lib/documented.ts';
import { isUuid } from '../lib/ids.ts';
import { digitsOf } from '../lib/unicode.ts';

export const MAX_IDS = 50;

const UUID_PATTERN = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

const IDS_PATTERN = `^${UUID_PATTERN}(,${UUID_PATTERN}){0,${MAX_IDS - 1}}$`;

/** Query parameter `ids`. Its pattern is only in the OpenAPI documents, because the service checks the parameter with `readIds`. */
export const idsQuery = (description: string, example: string) =>
  Type.Optional(Type.String({ [DOCUMENTED]: { pattern: IDS_PATTERN }, description, examples: [example] }));

/** Returns milliseconds of Unix time, at least 0. Rounds up, because the times of list entries are whole milliseconds. */
export function readBound(time: string): number {
  const isBetween = /\.\d{3}0*[1-9]/.test(time);
  return Math.max(0, Date.parse(time) + (isBetween ? 1 : 0));
}

export function readIds(text: string): string[] {
  const ids = text.split(',', MAX_IDS + 1);
  if (ids.length > MAX_IDS || !ids.every(isUuid)) {
    throw invalidField('ids', `must be 1 to ${MAX_IDS} UUIDs with commas between them`);
  }
  return ids;
}

/** Returns the digits of `phone` as 0 to 9. @throws ApiError 400 if it has none, because a search compares only the digits */
export function readPhone(text: string): string {
  const digits = digitsOf(text);
  if (digits === '') {
    throw invalidField('phone', 'must have at least one digit');
  }
  return digits;
}
