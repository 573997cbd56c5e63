import type { App } from './app.ts';

export interface Health {
  isServing?: (() => boolean) | undefined;
  /** Returns true if the database can be reached and has all migrations. Called at most once a second. */
  isReady: () => Promise<boolean>;
}

const REUSED_FOR_MS = 1_000;

/** Registers `GET /livez` and `GET /readyz`, which need no credentials and are not in the OpenAPI documents. */
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

function shared(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let result: Promise<boolean> | null = null;
  const expire = () => setTimeout(() => (result = null), REUSED_FOR_MS).unref();
  return () =>
    (result ??= isReady()
      .catch(() => false)
      .finally(expire));
}
