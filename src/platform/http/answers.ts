import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../db/failures.ts';
import { ApiError, isLogged, UnavailableError } from '../errors.ts';
import { DecodeError } from './decode/decode-error.ts';

/** Turns whatever was thrown while a request was answered into the error the caller sees; null: an internal error. */
export function toApiError(error: Error & { statusCode?: number }): ApiError | null {
  if (error instanceof ApiError) {
    return error;
  }
  const status = error.statusCode ?? 500;
  if (status < 400 || status > 499) {
    return null;
  }
  const isUndecodable = status === 400 && error instanceof DecodeError;
  return new ApiError(status, isUndecodable ? 'invalid_request' : 'error', error.message);
}

/** The one error handler: 4xx as `{code, message}`; a 5xx says nothing of the inside, only how to find it in the log. */
export function answerError(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = toApiError(error);
  if (known !== null) {
    return reply.code(known.statusCode).headers(known.headers).send({ code: known.code, message: known.message });
  }
  if (error instanceof UnavailableError || isUnavailable(error)) {
    if (!isLogged(error)) {
      request.log.warn({ err: error }, 'cannot answer for now');
    }
    const retryAfterSeconds = error instanceof UnavailableError ? error.retryAfterSeconds : 2;
    return reply
      .code(503)
      .header('retry-after', String(retryAfterSeconds))
      .send({ message: 'The service is unavailable for a moment. Try again.', request_id: request.id });
  }
  request.log.error({ err: error }, 'request failed');
  return reply
    .code(500)
    .send({ message: 'Something went wrong on our side. It is safe to try again.', request_id: request.id });
}
