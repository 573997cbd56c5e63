import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { cleanUp, postgresPid, startCommand } from '#test/support/command.ts';
import { isRunning } from '#test/support/process.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { eventually } from '#test/support/webhooks.ts';

describe('interrupted command', () => {
  after(cleanUp);

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`a command that gets ${signal} stops the PostgreSQL that it started, writes nothing to stderr, and exits ${code}`, async () => {
      const dataDir = await newMigratedDataDir();
      // This command waits for 20 s before it ends, so the signal interrupts it even if the test is slow.
      const command = startCommand(['keys', 'rotate'], { env: { DATA_DIR: dataDir } });
      const pid = await eventually(() => postgresPid(dataDir), 'PostgreSQL that runs', 60_000);
      command.kill(signal);
      const ended = await command.ended;
      assert.equal(ended.code, code, ended.stderr);
      assert.equal(ended.stderr, '');
      assert.equal(isRunning(pid), false);
    });
  }
});
