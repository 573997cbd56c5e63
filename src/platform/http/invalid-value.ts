import { type ApiError, apiError } from '../errors.ts';
import { FIRST_FAULTS, type Validator, validationMessage } from '../lib/validation.ts';

/**
 * Returns the error 400 `invalid_request` for a body, path or query that does not match its schema. Its message lists the first 50 faults.
 * @param whole `body`, `path` or `query`. The message has this name in place of the name of a field if a fault concerns the whole value.
 */
export function invalidValue(validator: Validator, value: unknown, whole: string): ApiError {
  return apiError('invalid_request', validationMessage(validator.findFaults(value, FIRST_FAULTS), whole));
}
