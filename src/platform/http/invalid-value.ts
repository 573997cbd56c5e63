import { type ApiError, apiError } from '../errors.ts';
import { extentFor, type Validator, validationMessage } from '../lib/validation.ts';

/**
 * Returns the 400 `invalid_request` for a body, path or query that does not match its schema.
 * @param whole name of this part of the request in the message: `body`, `path` or `query`
 * @param bytes size of the body. A large body is not searched for all its faults, but only for the first ones.
 */
export function invalidValue(validator: Validator, value: unknown, whole: string, bytes = 0): ApiError {
  const extent = extentFor(bytes);
  return apiError('invalid_request', validationMessage(validator.findFaults(value, extent), whole, extent));
}
