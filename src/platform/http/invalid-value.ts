import { type ApiError, apiError } from '../errors.ts';
import { extentFor, type Validator, validationMessage } from '../lib/validation.ts';

/**
 * Returns the error 400 `invalid_request` for a body, path or query that does not match its schema.
 * @param whole `body`, `path` or `query`. The message has this name in place of the name of a field if a fault concerns the whole value.
 * @param bytes size of the body. The message lists all faults of a body of at most 64 KiB, and the first 50 faults of a larger body.
 */
export function invalidValue(validator: Validator, value: unknown, whole: string, bytes = 0): ApiError {
  const extent = extentFor(bytes);
  return apiError('invalid_request', validationMessage(validator.findFaults(value, extent), whole, extent));
}
