import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { writeNewFile } from './new-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomservice-new-file-'));
});
after(() => rm(folder, { recursive: true }));

it('of many writers of one new file, one writes it and all others see its complete content', async () => {
  const path = join(folder, 'one');
  const contents = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(10_000));
  const seen = await Promise.all(
    contents.map(async (content) => [await writeNewFile(path, content), await readFile(path, 'utf8')]),
  );
  const [winner, ...others] = contents.filter((_, index) => seen[index]?.[0] === true);
  assert.equal(others.length, 0);
  assert.ok(seen.every(([, content]) => content === winner));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

it('a file in a folder that is missing is an error, and no draft stays in the folder', async () => {
  assert.deepEqual(await readdir(folder), ['one']);
  await assert.rejects(writeNewFile(join(folder, 'missing', 'x'), 'x'), { code: 'ENOENT' });
});
