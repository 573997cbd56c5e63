import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { splitTarget } from './raw-requests.ts';

/** Records all routes. Returns a function that makes the error of a request without a route: 404, or 405 with `Allow` (rule 1). */
export function trackRoutes(app: FastifyInstance): (url: string) => ApiError {
  const routes: { pattern: string[]; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url.replace(/\/$/, '').split('/');
    routes.push(...[method].flat().map((each) => ({ pattern, method: each })));
  });
  return (url) => {
    const path = decodeURI(splitTarget(url)[0]).replace(/\/$/, '').split('/');
    const found = routes.filter(({ pattern }) => matches(pattern, path)).map(({ method }) => method);
    const allowed = [...new Set(found)].sort();
    return allowed.length === 0
      ? unknownPath()
      : new ApiError(405, 'error', `The method must be ${allowed.join(' or ')}.`, { allow: allowed.join(', ') });
  };
}

export function unknownPath(): ApiError {
  return new ApiError(404, 'error', 'This path does not exist. /docs/ lists the paths that exist.');
}

function matches(pattern: string[], path: string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, index) => (step.startsWith(':') ? path[index] !== '' : step === path[index]))
  );
}
