import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { App } from '#platform/http/app.ts';
import { acceptsGzip } from '#platform/http/content-encoding.ts';
import { etagOf, hasCurrent, sendNotModified } from '#platform/http/etag.ts';

/** What is the same for everyone, and does not change while the process runs. */
export interface Resource {
  contentType: string;
  /** Called at the first request; once more only after it failed. */
  read: () => Promise<string | Buffer>;
  /** Without it, caches ask each time whether theirs is current. */
  cacheControl?: string;
  headers?: Record<string, string>;
}

/** Kept compressed, as nearly every caller takes it. */
interface Kept {
  gzipped: Buffer;
  /** Unpacked for the first who takes it so, then one for all: who reads slowly holds nothing of their own. */
  plain: () => Promise<Buffer>;
  /** One for each content coding (RFC 9110 §8.8.3.3). */
  etags: { plain: string; gzipped: string };
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Registers `GET` and `HEAD` of a resource that needs no credential, and is in no OpenAPI document. */
export function resourceRoute(app: App, path: string, { contentType, read, cacheControl, headers }: Resource): void {
  const load = once(async () => keep(await read()));
  app.get(path, async (request, reply) => {
    const { gzipped, plain, etags } = await load();
    const isGzipped = acceptsGzip(request.headers['accept-encoding']);
    const etag = isGzipped ? etags.gzipped : etags.plain;
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': cacheControl ?? 'public, no-cache', ...headers });
    if (hasCurrent(request, etag)) {
      return sendNotModified(reply);
    }
    reply.type(contentType);
    return isGzipped ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(await plain());
  });
}

async function keep(body: string | Buffer): Promise<Kept> {
  const plain = typeof body === 'string' ? Buffer.from(body) : body;
  const gzipped = await compress(plain);
  return { gzipped, plain: once(() => decompress(gzipped)), etags: { plain: etagOf(plain), gzipped: etagOf(gzipped) } };
}

/** Makes something at the first call, for all calls; a failure is not remembered. */
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
