import { type ApiError, invalidField } from '../errors.ts';

/** Maximum number of characters of a field name that a message quotes. The caller chooses the field name, which may be a megabyte long. */
const QUOTED_LENGTH = 80;

/** Makes the error 400 of a body or query that cannot be decoded (rule 2). */
export function undecodable(where: string, fault: string): ApiError {
  const quoted = where.slice(0, QUOTED_LENGTH).toWellFormed();
  return invalidField(where.length > QUOTED_LENGTH ? `${quoted}…` : quoted, fault);
}
