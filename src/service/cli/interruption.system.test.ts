import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, describe, it, type TestContext } from 'node:test';
import { cleanUp, postgresPid, startProgram } from '#test/support/command.ts';
import { isRunning } from '#test/support/process.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { eventually } from '#test/support/webhooks.ts';

/** Starts a server that accepts connections and never responds. @returns the URL of a database on this server */
async function silentServer(t: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `postgres://hotel@127.0.0.1:${(server.address() as AddressInfo).port}/hotel`;
}

describe('interrupted command', () => {
  after(cleanUp);

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`a command that gets ${signal} stops the PostgreSQL that it started, writes nothing to stderr, and exits ${code}`, async (t) => {
      const dataDir = await newMigratedDataDir();
      // The server of --to never responds, and the command waits 5 s for it. So the signal interrupts the command even if the test is slow.
      const command = startProgram(['move', '--to', await silentServer(t)], { env: { DATA_DIR: dataDir } });
      const pid = await eventually(() => postgresPid(dataDir), 'PostgreSQL that runs', 60_000);
      command.kill(signal);
      const ended = await command.ended;
      assert.equal(ended.code, code, ended.stderr);
      assert.equal(ended.stderr, '');
      assert.equal(isRunning(pid), false);
    });
  }
});
