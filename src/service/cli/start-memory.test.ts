import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { cleanUp, newDataDir, startServing } from '#test/support/command.ts';

const MAX_IDLE_MB = 150;

const skip = process.platform !== 'linux' && 'only Linux tells in /proc what a process holds';

describe('the memory of a service that nobody has called yet', { skip }, () => {
  after(cleanUp);

  it(`is below ${MAX_IDLE_MB} MB, on a start that finds nothing compiled too`, async () => {
    const env = { DATA_DIR: await newDataDir(), NODE_DISABLE_COMPILE_CACHE: '1' };
    const serving = await startServing([], { env });
    const idleMb = await readResidentMb(serving.pid);
    serving.kill('SIGTERM');
    await serving.ended;
    assert.ok(idleMb > 40 && idleMb < MAX_IDLE_MB, `${idleMb} MB`);
  });

  it('is settled before it starts if the command is run by hand, and as the operator says if they say so', async () => {
    const dataDir = await newDataDir();
    for (const [env, flags, threshold] of [
      [{}, ['--max-semi-space-size=16'], '65536'],
      [{ NODE_OPTIONS: '--max-semi-space-size=8', MALLOC_MMAP_THRESHOLD_: '131072' }, [], '131072'],
      [{ NODE_OPTIONS: '--max-semi-space-size=8' }, [], '65536'],
      [{ MALLOC_MMAP_THRESHOLD_: '131072' }, ['--max-semi-space-size=16'], '131072'],
    ] as const) {
      const serving = await startServing([], { env: { DATA_DIR: dataDir, ...env } });
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
