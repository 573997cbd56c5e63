import type { App } from './app.ts';

/** `GET /livez` and `GET /readyz`, without credentials, for whoever starts and watches the process. No document has them. */
export function healthRoutes(app: App, isReady: () => Promise<boolean>): void {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    if (await isReady().catch(() => false)) {
      return { status: 'ok' };
    }
    return reply.code(503).header('retry-after', '2').send({ status: 'unavailable' });
  });
}
