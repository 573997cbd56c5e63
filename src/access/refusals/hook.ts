import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Database } from '#platform/db/database.ts';
import { type ApiError, isLogged } from '#platform/errors.ts';
import type { Caller } from '../credentials/credentials.ts';
import { Refusals } from './refusals.ts';

export interface RefusalHook {
  /** Collects the refusal of a call that had a valid API key and secret. Ignores the refusals of all other calls. */
  onRefused: (request: FastifyRequest, refusal: ApiError) => void;
  close: () => Promise<void>;
}

export function createRefusalHook({ db, log }: { db: Database; log: Logger }): RefusalHook {
  const refusals = new Refusals({
    db,
    onError(error) {
      if (!isLogged(error)) {
        log.warn(
          { err: error },
          'refused calls could not be written to the database; the service keeps them in memory and tries again',
        );
      }
    },
  });
  return {
    onRefused(request, { statusCode, code, message }) {
      // The guard of partners and PMS sets `caller` after it has checked the secret, and before it counts the call. So a call that was
      // refused before the check of the secret has no `caller`, although the type of the request declares the field as always present.
      const { caller } = request as { caller?: Caller };
      if (caller !== undefined) {
        const { method, id, routeOptions } = request;
        const path = routeOptions.url ?? '';
        refusals.add(caller, { method, path, status: statusCode, code, message, request_id: id });
      }
    },
    close: () => refusals.close(),
  };
}
