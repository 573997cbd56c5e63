import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { App } from './app.ts';
import { acceptsGzip } from './accept.ts';
import { etagOf, matchesIfNoneMatch, sendNotModified } from './etag.ts';

/** Content of one path of the site. It is the same for every caller and does not change while the process runs. */
interface Resource {
  contentType: string;
  /** Called by the first request. Later requests call it again only if the previous call failed. */
  read: () => Promise<string | Buffer>;
  /** Undefined means `public, no-cache`. A cache must then ask the service at each request if its copy is still current. */
  cacheControl?: string;
  headers?: Record<string, string>;
}

const compress = promisify(gzip);

export function resourceRoute(app: App, path: string, { contentType, read, cacheControl, headers }: Resource): void {
  const load = once(async () => {
    const plain = Buffer.from(await read());
    const gzipped = await compress(plain);
    return { plain, gzipped, plainEtag: etagOf(plain), gzippedEtag: etagOf(gzipped) };
  });
  app.get(path, { config: { place: 'none' } }, async (request, reply) => {
    const { plain, gzipped, plainEtag, gzippedEtag } = await load();
    const isGzipped = acceptsGzip(request.headers['accept-encoding']);
    const etag = isGzipped ? gzippedEtag : plainEtag;
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': cacheControl ?? 'public, no-cache', ...headers });
    if (matchesIfNoneMatch(request, etag)) {
      return sendNotModified(reply);
    }
    reply.type(contentType);
    return isGzipped ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(plain);
  });
}

/** An error of `make` is not cached, so the call after an error runs `make` again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
