import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { App } from '#platform/http/app.ts';
import { acceptsGzip } from '#platform/http/content-encoding.ts';
import { etagOf, matchesIfNoneMatch, sendNotModified } from '#platform/http/etag.ts';

/** Content of one path of the site. It is the same for every caller and does not change while the process runs. */
export interface Resource {
  contentType: string;
  /** Reads the content. The first request calls this function. Later requests call it again only if the previous call failed. */
  read: () => Promise<string | Buffer>;
  /** Undefined means `public, no-cache`. A cache must then ask the service at each request if its copy is still current. */
  cacheControl?: string;
  headers?: Record<string, string>;
}

/** Content that the process keeps in memory. The content is compressed, because nearly every caller accepts gzip. */
interface CachedContent {
  gzipped: Buffer;
  /** All callers share one buffer, so many slow callers need no more memory than one caller. */
  plain: () => Promise<Buffer>;
  /** Entity tags of the uncompressed and of the compressed content (RFC 9110 §8.8.3.3). */
  etags: { plain: string; gzipped: string };
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Registers `GET` and `HEAD` of a resource that needs no credential and is in no OpenAPI document. */
export function resourceRoute(app: App, path: string, { contentType, read, cacheControl, headers }: Resource): void {
  const load = once(async () => cacheContent(await read()));
  app.get(path, { config: { place: 'none' } }, async (request, reply) => {
    const { gzipped, plain, etags } = await load();
    const isGzipped = acceptsGzip(request.headers['accept-encoding']);
    const etag = isGzipped ? etags.gzipped : etags.plain;
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': cacheControl ?? 'public, no-cache', ...headers });
    if (matchesIfNoneMatch(request, etag)) {
      return sendNotModified(reply);
    }
    reply.type(contentType);
    return isGzipped ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(await plain());
  });
}

async function cacheContent(body: string | Buffer): Promise<CachedContent> {
  const plain = typeof body === 'string' ? Buffer.from(body) : body;
  const gzipped = await compress(plain);
  return { gzipped, plain: once(() => decompress(gzipped)), etags: { plain: etagOf(plain), gzipped: etagOf(gzipped) } };
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
