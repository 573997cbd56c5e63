import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { cleanUp, startServing } from '#test/support/command.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';

const MAX_IDLE_MB = 150;

const skip = process.platform !== 'linux' && 'Only Linux shows in /proc how much memory a process uses.';

describe('memory of serve before the first call', { skip }, () => {
  after(cleanUp);

  it(`serve uses less than ${MAX_IDLE_MB} MB before the first call, even after a start without the compile cache`, async () => {
    const env = { DATA_DIR: await newMigratedDataDir(), NODE_DISABLE_COMPILE_CACHE: '1' };
    const serving = await startServing([], { env });
    const idleMb = await readResidentMb(serving.pid);
    serving.kill('SIGTERM');
    await serving.ended;
    assert.ok(idleMb > 40 && idleMb < MAX_IDLE_MB, `${idleMb} MB`);
  });

  it('serve sets its own memory settings of V8 and malloc, except those that the operator has set', async (t) => {
    const database = await createTestDatabase();
    t.after(() => database.drop());
    const own = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') };
    for (const [env, flags, threshold] of [
      [{}, ['--max-semi-space-size=16'], '65536'],
      [{ NODE_OPTIONS: '--max-semi-space-size=8', MALLOC_MMAP_THRESHOLD_: '131072' }, [], '131072'],
      [{ NODE_OPTIONS: '--max-semi-space-size=8' }, [], '65536'],
      [{ MALLOC_MMAP_THRESHOLD_: '131072' }, ['--max-semi-space-size=16'], '131072'],
    ] as const) {
      const serving = await startServing([], { env: { ...own, ...env } });
      const [commandLine, environment] = await Promise.all(
        ['cmdline', 'environ'].map(async (file) =>
          (await readFile(`/proc/${serving.pid}/${file}`, 'utf8')).split('\0'),
        ),
      );
      serving.kill('SIGTERM');
      assert.equal((await serving.ended).code, 0);
      assert.deepEqual(
        commandLine?.filter((argument) => argument.startsWith('--max-semi')),
        flags,
      );
      assert.ok(environment?.includes(`MALLOC_MMAP_THRESHOLD_=${threshold}`));
    }
  });
});

async function readResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
