import type { App } from './app.ts';

interface Health {
  /** Returns false once the process is stopping. Called for every request, with the address of the caller. */
  isServing?: (address: string) => boolean;
  /** Returns true if the database can be reached and has all migrations. Called at most once a second, because it queries the database. */
  isReady: () => Promise<boolean>;
}

/** Time for which a result of `isReady` is reused, in milliseconds. */
const REUSED_FOR_MS = 1_000;

/**
 * Registers `GET /livez` and `GET /readyz`, which need no credentials, for the tools that start and monitor the process. The OpenAPI
 * documents leave them out.
 */
export function healthRoutes(app: App, { isServing = () => true, isReady }: Health): void {
  const isReadyShared = shared(isReady);
  app.get('/livez', { config: { skipsQueue: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { skipsQueue: true } }, async (request, reply) => {
    if (isServing(request.ip) && (await isReadyShared())) {
      return { status: 'ok' };
    }
    return reply.code(503).header('retry-after', '2').send({ status: 'unavailable' });
  });
}

/** Shares one call of `isReady` among all requests that arrive while it runs, and during the second after it. */
function shared(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let result: Promise<boolean> | null = null;
  const expire = () => setTimeout(() => (result = null), REUSED_FOR_MS).unref();
  return () =>
    (result ??= isReady()
      .catch(() => false)
      .finally(expire));
}
