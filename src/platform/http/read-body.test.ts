import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { LARGE_BODY_BYTES, readBody } from './read-body.ts';

/** Returns a chunk with a memory block of its own, as Node makes it for each read of a request body. */
function ownChunk(bytes: number): Buffer {
  const chunk = Buffer.from(new ArrayBuffer(bytes));
  chunk.fill('x');
  return chunk;
}

function read(chunks: Buffer[], refusal: Error | null = null): Promise<Buffer | Error> {
  return readBody({
    payload: Readable.from(chunks, { objectMode: true }),
    declaredBytes: Number.NaN,
    limitBytes: 1024 * 1024,
    space: { growTo: () => refusal },
    pace: () => {},
  });
}

describe('the memory of the chunks of a body', () => {
  it('the memory of the chunks of a large body is freed when the chunks are joined', async () => {
    const chunks = [ownChunk(LARGE_BODY_BYTES), ownChunk(LARGE_BODY_BYTES)];
    const body = await read(chunks);
    assert.deepEqual(body, Buffer.alloc(2 * LARGE_BODY_BYTES, 'x'));
    assert.deepEqual(
      chunks.map(({ length }) => length),
      [0, 0],
    );
  });

  it('the memory of the chunks of a refused body is freed, also for the chunks that arrived before the refusal', async () => {
    const refusal = new Error('refused');
    const chunks = [ownChunk(LARGE_BODY_BYTES), ownChunk(LARGE_BODY_BYTES)];
    assert.equal(await read(chunks, refusal), refusal);
    assert.deepEqual(
      chunks.map(({ length }) => length),
      [0, 0],
    );
  });

  it('the memory of a chunk is not freed if the chunk shares its memory block with other Buffers', async () => {
    const shared = ownChunk(2 * LARGE_BODY_BYTES);
    const chunks = [shared.subarray(0, LARGE_BODY_BYTES), shared.subarray(LARGE_BODY_BYTES)];
    assert.ok(Buffer.isBuffer(await read(chunks)));
    assert.equal(await read(chunks, new Error('refused')).then((result) => result instanceof Error), true);
    assert.deepEqual(shared, Buffer.alloc(2 * LARGE_BODY_BYTES, 'x'));
  });
});
