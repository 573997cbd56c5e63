import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { cleanUp, isRunning, newDataDir, postgresPid, startCommand } from '#test/support/command.ts';
import { eventually } from '#test/support/webhooks.ts';

describe('a command that is interrupted', () => {
  after(cleanUp);

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`${signal}: stops the PostgreSQL it started, says nothing more, and exits ${code}`, async () => {
      const dataDir = await newDataDir();
      const command = startCommand(['demo'], { env: { DATA_DIR: dataDir } });
      const pid = await eventually(() => postgresPid(dataDir), 'PostgreSQL runs');
      command.kill(signal);
      const ended = await command.ended;
      assert.equal(ended.code, code, ended.stderr);
      assert.equal(ended.stderr, '');
      assert.equal(isRunning(pid), false);
    });
  }
});
