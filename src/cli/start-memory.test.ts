import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { cleanUp, newDataDir, startServing } from '../../test/support/command.ts';

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
});

async function readResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
