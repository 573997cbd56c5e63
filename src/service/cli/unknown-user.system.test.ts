import assert from 'node:assert/strict';
import { chown, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { cleanUp, newFolder, refuse, runProgram, startProgram } from '#test/support/command.ts';

/** Container platforms run a process as a user id without an entry in /etc/passwd. */
const UNKNOWN = 1_234_567;
const CREDENTIAL = { KEY: 'rsk_a', SECRET: 'rss_b', BASE: 'http://127.0.0.1:9' };
const FORWARD = ['listen', '--forward-to', 'http://127.0.0.1:9'];

async function ownFolder(): Promise<string> {
  const folder = join(await newFolder(), 'own');
  await mkdir(folder);
  await chown(folder, UNKNOWN, UNKNOWN);
  return folder;
}

describe('a command of a user without an entry in /etc/passwd', {
  skip: process.getuid?.() !== 0 && 'only root may start a command as another user',
}, () => {
  after(cleanUp);

  it('serve with the embedded database exits 1, and one line says what to do', async () => {
    await refuse(
      ['serve'],
      { uid: UNKNOWN, env: { DATA_DIR: join(await ownFolder(), 'data'), LOG_LEVEL: 'silent' } },
      /^roomservice: .+ user ID 1234567.+ Add one, or run the service as a user that has one, or set DATABASE_URL\.$/m,
      runProgram,
    );
  });

  it('listen without HOME prints events, and with --forward-to it exits 1, and one line says what to do', async () => {
    const env = { ...CREDENTIAL, HOME: '' };
    const printing = startProgram(['listen'], { uid: UNKNOWN, env });
    await printing.prints(/is out of reach/);
    printing.kill('SIGTERM');
    await printing.ended;
    await refuse(
      FORWARD,
      { uid: UNKNOWN, env },
      /^roomservice: .+ no home folder\. Set XDG_STATE_HOME to a folder/,
      runProgram,
    );
    const folder = await ownFolder();
    for (const [name, child] of [
      ['HOME', '.local'],
      ['XDG_STATE_HOME', 'roomservice'],
    ] as const) {
      const forwarding = startProgram(FORWARD, { uid: UNKNOWN, env: { ...env, [name]: folder } });
      await forwarding.prints(/signed with rss_/);
      forwarding.kill('SIGTERM');
      await forwarding.ended;
      assert.ok((await readdir(folder)).includes(child));
    }
  });
});
