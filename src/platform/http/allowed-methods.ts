import type { FastifyInstance } from 'fastify';
import { splitTarget } from './request-target.ts';

/**
 * Records every route when it is registered. Returns a function that lists the allowed methods of a path. With this list, the app responds
 * to a wrong method with 405 and the header `Allow` (decision 1). Fastify itself would respond with 404.
 */
export function trackAllowedMethods(app: FastifyInstance): (url: string) => string[] {
  const methodsByPattern = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    const pattern = route.url.replace(/\/$/, '');
    const methods = methodsByPattern.get(pattern) ?? new Set();
    methodsByPattern.set(pattern, methods);
    for (const method of [route.method].flat()) {
      methods.add(method);
    }
  });
  return (url) => {
    const path = decodeURI(splitTarget(url)[0]).replace(/\/$/, '');
    const found = [...methodsByPattern].filter(([pattern]) => matches(pattern.split('/'), path.split('/')));
    return [...new Set(found.flatMap(([, methods]) => [...methods]))].sort();
  };
}

function matches(pattern: string[], path: string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, index) => (step.startsWith(':') ? path[index] !== '' : step === path[index]))
  );
}
