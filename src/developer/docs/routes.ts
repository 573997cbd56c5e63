/** The site at /docs/: the reference, the guides as pages, the OpenAPI documents and llms.txt. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsHtml } from '#platform/http/accept.ts';
import { unknownPath } from '#platform/http/allowed-methods.ts';
import type { App } from '#platform/http/app.ts';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { DOCUMENTS, documentPath } from './api-documents.ts';
import {
  type Guide,
  GUIDE_NAMES,
  guidePath,
  guideSourcePath,
  PICTURE_NAMES,
  picturePath,
  readGuide,
} from './guides.ts';
import { guidePage, guidesIndexPage, llmsText, referencePage, referencePolicy, unknownPage } from './pages.ts';
import { once, resourceRoute } from '#platform/http/resource.ts';
import { readScalarScript } from './scalar.ts';

const ASSETS = ['site.css', 'guides.css', 'reference.css', 'reference.js', 'copy.js', 'icon.svg'];
/** Paths of the files that the site shows as they are, with their places in the package. */
const FILES = new Map<string, string>([
  ...DOCUMENTS.map(({ name }) => [documentPath(name), `contract/${name}.json`] as const),
  ...GUIDE_NAMES.map((name) => [guideSourcePath(name), `docs/guides/${name}.md`] as const),
  ...PICTURE_NAMES.map((name) => [picturePath(name), `docs/guides/console/${name}.png`] as const),
  ...ASSETS.map((name) => [`/docs/assets/${name}`, `src/developer/docs/assets/${name}`] as const),
]);

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const CONTENT_TYPES: Record<string, string> = {
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': SCRIPT,
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
const GUIDE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** What `GET /` tells a program. A browser is led to the pages. */
const HOME = {
  name: 'Roomservice',
  description: "One dependable way into a hotel's rooms and a restaurant's kitchen",
  docs: '/docs/',
  guides: '/docs/guides/',
  openapi: DOCUMENTS.map(({ name }) => documentPath(name)),
  health: ['/livez', '/readyz'],
};
const DAY_SECONDS = 24 * 60 * 60;

/** Each path is registered separately, so a caller cannot read any other file. */
export function docsRoutes(app: App): void {
  const guides = once(() => Promise.all(GUIDE_NAMES.map(readGuide)));
  homeRoute(app);
  referenceRoute(app);
  guideRoutes(app, guides);
  unknownPageRoute(app);
  for (const [path, file] of FILES) {
    const contentType = CONTENT_TYPES[extname(file)] ?? '';
    resourceRoute(app, path, { contentType, read: () => readFile(join(PACKAGE_ROOT, file)) });
  }
  resourceRoute(app, '/docs/assets/scalar.js', {
    contentType: SCRIPT,
    cacheControl: `public, max-age=${DAY_SECONDS}`,
    read: readScalarScript,
  });
}

function homeRoute(app: App): void {
  app.get('/', { config: { place: 'none' } }, async (request, reply) =>
    acceptsHtml(request.headers.accept) ? reply.redirect('/console/') : HOME,
  );
}

function referenceRoute(app: App): void {
  app.get('/docs/', { config: { place: 'none' } }, async (_request, reply) => {
    const nonce = randomBytes(16).toString('base64');
    return reply.type(HTML).header('content-security-policy', referencePolicy(nonce)).send(referencePage(nonce));
  });
}

function guideRoutes(app: App, guides: () => Promise<Guide[]>): void {
  const headers = { 'content-security-policy': GUIDE_POLICY };
  const index = async () => guidesIndexPage(await guides());
  resourceRoute(app, '/docs/guides/', { contentType: HTML, headers, read: index });
  for (const name of GUIDE_NAMES) {
    const read = async () => guidePage(await guides(), name);
    resourceRoute(app, guidePath(name), { contentType: HTML, headers, read });
  }
  const list = async () => llmsText(await guides());
  resourceRoute(app, '/llms.txt', { contentType: 'text/plain; charset=utf-8', read: list });
}

function unknownPageRoute(app: App): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!acceptsHtml(request.headers.accept)) {
      throw unknownPath();
    }
    return reply.code(404).type(HTML).header('content-security-policy', GUIDE_POLICY).send(unknownPage());
  };
  // The hook comes before the checks of the path, which answer 400 to what is not valid UTF-8.
  app.get('/docs/*', { config: { place: 'none' }, onRequest: refuse }, refuse);
}
