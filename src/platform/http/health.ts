import type { App } from './app.ts';

interface Health {
  /** False once the process is stopping; asked at every call, with the address of who calls. */
  isServing?: (address: string) => boolean;
  /** Whether the database can be reached and is up to date. It costs: it is asked once a second at most. */
  isReady: () => Promise<boolean>;
}

/** How long an answer about the database serves all who ask, in milliseconds. */
const READY_FOR_MS = 1_000;

/** `GET /livez` and `GET /readyz`, without credentials, for whatever starts and watches the process. No document has them. */
export function healthRoutes(app: App, { isServing = () => true, isReady }: Health): void {
  const isReadyLately = shared(isReady);
  app.get('/livez', { config: { goesFirst: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { goesFirst: true } }, async (request, reply) => {
    if (isServing(request.ip) && (await isReadyLately())) {
      return { status: 'ok' };
    }
    return reply.code(503).header('retry-after', '2').send({ status: 'unavailable' });
  });
}

/** One question for all who ask while it is under way, and for a second after its answer. */
function shared(isReady: () => Promise<boolean>): () => Promise<boolean> {
  let answer: Promise<boolean> | null = null;
  const forget = () => setTimeout(() => (answer = null), READY_FOR_MS).unref();
  return () =>
    (answer ??= isReady()
      .catch(() => false)
      .finally(forget));
}
