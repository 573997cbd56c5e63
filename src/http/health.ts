import type { App } from './app.ts';

/** `GET /livez` and `GET /readyz`, without credentials, for whoever starts and watches the process. */
export function healthRoutes(app: App, isReady: () => Promise<boolean>): void {
  const shared = { tags: ['Health'], hide: true };
  app.get('/livez', { schema: { ...shared, operationId: 'live' } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { ...shared, operationId: 'ready' } }, async (_request, reply) => {
    if (await isReady().catch(() => false)) {
      return { status: 'ok' };
    }
    return reply.code(503).header('retry-after', '2').send({ status: 'unavailable' });
  });
}
