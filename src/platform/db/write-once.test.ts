import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readWritten, writeOnce } from './write-once.ts';

async function newPath(t: { after: (cleanUp: () => Promise<void>) => void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rs-once-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'file');
}

test('twenty concurrent calls of writeOnce return the text of one of them, and leave one private file', async (t) => {
  const path = await newPath(t);
  const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => writeOnce(path, `text ${index}`)));
  assert.equal(new Set(texts.map(String)).size, 1);
  assert.equal(await readFile(path, 'utf8'), String(texts[0]));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(join(path, '..')), ['file']);
  assert.equal(String(await writeOnce(path, 'another text')), String(texts[0]));
});

test('readWritten waits while a file is empty, and returns no bytes if its writer was killed', async (t) => {
  const path = await newPath(t);
  await writeFile(path, '');
  const reading = readWritten(path);
  setTimeout(() => void writeFile(path, 'late'), 100);
  assert.equal(String(await reading), 'late');
  await writeFile(path, '');
  assert.equal((await readWritten(path)).length, 0);
});
