/** The site at /docs/: the reference, the guides as pages, the OpenAPI documents and llms.txt. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsHtml } from '#platform/http/accept.ts';
import { unknownPath } from '#platform/http/allowed-methods.ts';
import type { App } from '#platform/http/app.ts';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { DOCUMENTS, documentPath, readDocument } from './api-documents.ts';
import {
  type Guide,
  GUIDE_NAMES,
  guidePath,
  guideSourcePath,
  PICTURE_NAMES,
  picturePath,
  readGuide,
  readGuideSource,
  readPicture,
} from './guides.ts';
import { guidePage, guidesIndexPage, llmsText, referencePage, referencePolicy, unknownPage } from './pages.ts';
import { once, resourceRoute } from '#platform/http/resource.ts';
import { readScalarScript } from './scalar.ts';

const ASSETS = {
  'site.css': 'text/css; charset=utf-8',
  'guides.css': 'text/css; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'copy.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

const HTML = 'text/html; charset=utf-8';
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
  unknownPageRoute(app, guides);
  for (const { name } of DOCUMENTS) {
    resourceRoute(app, documentPath(name), {
      contentType: 'application/json; charset=utf-8',
      read: () => readDocument(name),
    });
  }
  for (const [name, contentType] of Object.entries(ASSETS)) {
    const read = () => readFile(join(PACKAGE_ROOT, 'src/developer/docs/assets', name));
    resourceRoute(app, `/docs/assets/${name}`, { contentType, read });
  }
  resourceRoute(app, '/docs/assets/scalar.js', {
    contentType: 'text/javascript; charset=utf-8',
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
  const page = (read: () => Promise<string>) => ({
    contentType: HTML,
    headers: { 'content-security-policy': GUIDE_POLICY },
    read,
  });
  resourceRoute(
    app,
    '/docs/guides/',
    page(async () => guidesIndexPage(await guides())),
  );
  for (const name of GUIDE_NAMES) {
    resourceRoute(
      app,
      guidePath(name),
      page(async () => guidePage(await guides(), await readGuide(name))),
    );
    resourceRoute(app, guideSourcePath(name), {
      contentType: 'text/markdown; charset=utf-8',
      read: () => readGuideSource(name),
    });
  }
  for (const name of PICTURE_NAMES) {
    resourceRoute(app, picturePath(name), { contentType: 'image/png', read: () => readPicture(name) });
  }
  resourceRoute(app, '/llms.txt', {
    contentType: 'text/plain; charset=utf-8',
    read: async () => llmsText(await guides()),
  });
}

function unknownPageRoute(app: App, guides: () => Promise<Guide[]>): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!acceptsHtml(request.headers.accept)) {
      throw unknownPath();
    }
    return reply
      .code(404)
      .type(HTML)
      .header('content-security-policy', GUIDE_POLICY)
      .send(unknownPage(await guides()));
  };
  // The hook comes before the checks of the path, which answer 400 to what is not valid UTF-8.
  app.get('/docs/*', { config: { place: 'none' }, onRequest: refuse }, refuse);
}
