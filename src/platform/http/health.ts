import type { App } from './app.ts';

export interface Health {
  /** Returns false if the process has begun to stop. */
  isServing?: () => boolean;
  /**
   * Returns true if the database can be reached and has all migrations. A call may query the database, so `/readyz` calls this function at
   * most once a second.
   */
  isReady: () => Promise<boolean>;
}

/** Time for which a result of `isReady` is reused, in milliseconds. */
const REUSED_FOR_MS = 1_000;

/**
 * Registers `GET /livez` and `GET /readyz` for the tools that start and monitor the process. Both need no credentials, and the OpenAPI
 * documents do not list them.
 */
export function healthRoutes(app: App, { isServing = () => true, isReady }: Health): void {
  const isReadyShared = shared(isReady);
  app.get('/livez', { config: { place: 'none' } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { place: 'none' } }, async (_request, reply) => {
    if (isServing() && (await isReadyShared())) {
      return { status: 'ok' };
    }
    return reply.code(503).header('retry-after', '2').send({ status: 'unavailable' });
  });
}

/**
 * Returns a function that calls `isReady` and shares its result. All calls that arrive while `isReady` runs, or within one second after its
 * end, get the same result. If `isReady` fails, the result is false.
 */
function shared(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let result: Promise<boolean> | null = null;
  const expire = () => setTimeout(() => (result = null), REUSED_FOR_MS).unref();
  return () =>
    (result ??= isReady()
      .catch(() => false)
      .finally(expire));
}
