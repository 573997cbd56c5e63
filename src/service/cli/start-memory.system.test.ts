import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { cleanUp, startServingProgram, untilReady } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';

const MAX_IDLE_MB = 120;

const skip = process.platform !== 'linux' && 'Only Linux shows in /proc how much memory a process uses.';

describe('memory of serve before the first call', { skip }, () => {
  after(cleanUp);

  it(`serve uses less than ${MAX_IDLE_MB} MB before the first call`, async () => {
    const serving = await startServingProgram([], { env: { DATA_DIR: await newMigratedDataDir() } });
    await untilReady(serving);
    const idleMb = await readResidentMb(serving.pid);
    serving.kill('SIGTERM');
    await serving.ended;
    assert.ok(idleMb > 40 && idleMb < MAX_IDLE_MB, `${idleMb} MB`);
  });
});

async function readResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}
