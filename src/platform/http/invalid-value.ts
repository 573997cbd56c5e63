import { type ApiError, apiError } from '../errors.ts';
import { extentFor, type Validator, validationMessage } from '../lib/validation.ts';

/**
 * Returns the 400 `invalid_request` for an invalid body, path or query.
 * @param whole name of the part in the message: `body`, `path` or `query`
 * @param bytes size of the body; it bounds the search for faults
 */
export function invalidValue(validator: Validator, value: unknown, whole: string, bytes = 0): ApiError {
  const extent = extentFor(bytes);
  return apiError('invalid_request', validationMessage(validator.findFaults(value, extent), whole, extent));
}
