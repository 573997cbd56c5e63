import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../db/failures.ts';
import { ApiError, UnavailableError } from '../errors.ts';
import { drainBody, hasUnreadBody } from './unread-body.ts';

export interface ErrorListeners {
  onRefused?: (request: FastifyRequest, refusal: ApiError) => void;
  onFailed?: (error: Error) => void;
}

/** Makes the app respond to each error, and tells the listeners about it. Drops the rest of a body that was not read. */
export function handleErrors(app: FastifyInstance, { onRefused, onFailed }: ErrorListeners): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (hasUnreadBody(request)) {
      await drainBody(request, reply);
    }
    const refusal = toApiError(error);
    if (refusal !== null) {
      onRefused?.(request, refusal);
      const { statusCode, headers, code, message } = refusal;
      return reply.code(statusCode).headers(headers).send({ code, message });
    }
    onFailed?.(error);
    return sendFailure(error, request, reply);
  });
}

/** Returns null if the response must be a 5xx. */
export function toApiError(error: Error & { statusCode?: number }): ApiError | null {
  if (error instanceof ApiError) {
    return error;
  }
  const { statusCode = 500, message } = error;
  return statusCode >= 400 && statusCode <= 499 ? new ApiError(statusCode, 'error', message) : null;
}

/** A 5xx does not describe the error. It has the request id, with which the operator finds the error in the log. */
function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof UnavailableError || isUnavailable(error)) {
    request.log.warn({ err: error }, 'request refused with 503, because the service is unavailable for the moment');
    return reply
      .code(503)
      .header('retry-after', '2')
      .send({ message: 'The service is unavailable for a moment. Try again.', request_id: request.id });
  }
  request.log.error({ err: error }, 'request failed');
  return reply
    .code(500)
    .send({ message: 'The service had an internal error. It is safe to try again.', request_id: request.id });
}
