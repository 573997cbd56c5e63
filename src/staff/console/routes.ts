/** Serves the console of the house's people, a page that is a client of the staff's API. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import { once, resourceRoute } from '#platform/http/resource.ts';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';

const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** Word in the built page that stands for the nonce of a response (`console/vite.config.ts`). */
const NONCE_MARK = /__NONCE__/g;
const MISSING =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Roomservice</title>' +
  '<p>The console is not built. Run <code>npm ci</code> or <code>npm run prepare</code>, then start the service again. The API works without it.</p></html>';

/**
 * Serves the console of the house's people: `/console/` and every path below it is one page, which reads the path itself. Its files have
 * their content's hash in the name. Without a built console, the page says what to run.
 */
export function consoleRoutes(app: App, folder = join(PACKAGE_ROOT, 'console/dist')): void {
  for (const name of filesIn(join(folder, 'assets'))) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType !== undefined) {
      resourceRoute(app, `/console/assets/${name}`, {
        contentType,
        cacheControl: `public, max-age=${YEAR_SECONDS}, immutable`,
        read: () => readFile(join(folder, 'assets', name)),
      });
    }
  }
  const readPage = once(async () => await readFile(join(folder, 'index.html'), 'utf8').catch(() => MISSING));
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.startsWith('/console/assets/')) {
      throw notFound('file of the console');
    }
    const nonce = randomBytes(16).toString('base64');
    const page = (await readPage()).replace(NONCE_MARK, nonce);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policyOf(nonce))
      .header('referrer-policy', 'no-referrer')
      .send(page);
  };
  for (const path of ['/console/', '/console/*']) {
    app.get(path, { config: { place: 'none' } }, answer);
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function policyOf(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; ` +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}
