import { type ApiError, apiError } from '../errors.ts';
import { extentFor, type Validator, validationMessage } from '../lib/validation.ts';

/**
 * The 400 `invalid_request` for a part of a request that is not valid.
 * @param whole what the part is called: `body`, `path` or `query`
 * @param bytes the size of what was sent
 */
export function invalidValue(validator: Validator, value: unknown, whole: string, bytes = 0): ApiError {
  const extent = extentFor(bytes);
  return apiError('invalid_request', validationMessage(validator.findFaults(value, extent), whole, extent));
}
