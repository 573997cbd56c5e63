import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { cleanUp, newFolder, startServing } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { eventually } from '#test/support/webhooks.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');

describe('compile cache', () => {
  after(cleanUp);

  it('a command stores its compile cache in node_modules/.cache beside its code', async () => {
    const folder = await newCopy();
    assertHelps(folder);
    assert.notEqual(await countFiles(join(folder, 'node_modules/.cache/roomservice')), 0);
  });

  it('a command prints its help without errors if it cannot create the folder of the compile cache', async () => {
    const folder = await newCopy();
    await writeFile(join(folder, 'node_modules'), 'not a folder');
    assertHelps(folder);
  });

  it('serve writes its compile cache while it runs, not only when it exits', async () => {
    const cache = await newFolder();
    const serving = await startServing([], {
      env: { DATA_DIR: await newMigratedDataDir(), NODE_COMPILE_CACHE: cache },
    });
    await eventually(async () => (await countFiles(cache)) > 500, 'the cache is written');
    serving.kill('SIGKILL');
    await serving.ended;
  });
});

/** Creates a folder with a copy of the command, a link to the sources of this repository and no node_modules. */
async function newCopy(): Promise<string> {
  const folder = await newFolder();
  await mkdir(join(folder, 'bin'));
  await copyFile(join(REPOSITORY, 'bin/roomservice.js'), join(folder, 'bin/roomservice.mjs'));
  await symlink(join(REPOSITORY, 'src'), join(folder, 'src'));
  return folder;
}

function assertHelps(folder: string): void {
  const command = [join(folder, 'bin/roomservice.mjs'), '--help'];
  // The environment does not contain NODE_COMPILE_CACHE, because with this variable the command would use the compile cache of the tests.
  const env = { PATH: process.env['PATH'] };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /serve/);
}

async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
