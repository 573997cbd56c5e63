import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  cleanUp,
  newFolder,
  postgresPid,
  runProgram,
  startServingProgram,
  stop,
  untilReady,
} from '#test/support/command.ts';
import { isRunning } from '#test/support/process.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { eventually } from '#test/support/webhooks.ts';

const node = ['/usr/local/bin/node', '/usr/bin/node'].find(isTooOld) ?? '';
const skip = node === '' ? 'This system has no Node before 24.7 in /usr/local/bin or /usr/bin.' : false;

function isTooOld(path: string): boolean {
  try {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [major = 0, minor = 0] = version.trim().slice(1).split('.').map(Number);
    return major < 24 || (major === 24 && minor < 7);
  } catch {
    return false;
  }
}

describe('bin/roomservice.js on an older Node', { skip }, () => {
  after(cleanUp);

  it('a command that an older Node starts gets its arguments, and the caller gets the output and exit code of the command', async () => {
    const [help, usage, wrong] = await Promise.all([
      runProgram(['tenant', '--help'], { node }),
      runProgram(['tenant', 'apply'], { node }),
      runProgram(['migrate'], { node, env: { PORT: 'x' } }),
    ]);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /apply/);
    assert.equal(usage.code, 2);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /^roomservice: PORT must be .+\n$/);
  });

  it('npx on an older Node runs the command, and npm prints no warning about the required Node version', async (t) => {
    const npx = join(dirname(node), 'npx');
    if (!existsSync(npx)) {
      t.skip('This system has no npx beside its older Node, and the test runs npx.');
      return;
    }
    const cache = await newFolder();
    const { status, stdout, stderr } = spawnSync(npx, ['roomservice', '--help'], {
      cwd: join(import.meta.dirname, '../../..'),
      env: {
        PATH: dirname(node),
        HOME: cache,
        npm_config_cache: cache,
        npm_config_offline: 'true',
        npm_config_update_notifier: 'false',
      },
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^Usage: roomservice/);
  });

  for (const [name, end] of [
    ['a SIGTERM', (pid: number) => process.kill(pid, 'SIGTERM')],
    ['a Ctrl-C that reaches both processes', (pid: number) => process.kill(-pid, 'SIGINT')],
  ] as const) {
    it(`if an older Node starts serve, serve responds, and ${name} makes serve exit 0 and stop its PostgreSQL`, async () => {
      const dataDir = await newMigratedDataDir();
      const serving = await startServingProgram([], { node, env: { DATA_DIR: dataDir }, detached: true });
      await untilReady(serving);
      const postgres = await postgresPid(dataDir);
      end(serving.pid);
      const { code, signal } = await serving.ended;
      assert.deepEqual([code, signal], [0, null], serving.output());
      assert.equal(isRunning(postgres), false, serving.output());
      await assert.rejects(fetch(`${serving.url}/livez`));
    });
  }

  it('if an older Node starts serve and is killed by SIGKILL, serve ends too, and another serve can start on the same DATA_DIR', async () => {
    const dataDir = await newMigratedDataDir();
    const killed = await startServingProgram([], { node, env: { DATA_DIR: dataDir } });
    killed.kill('SIGKILL');
    await eventually(
      () =>
        fetch(`${killed.url}/livez`).then(
          () => false,
          () => true,
        ),
      'end of the killed serve',
    );
    const next = await startServingProgram([], { node, env: { DATA_DIR: dataDir } });
    await stop(next);
  });

  for (const [name, install, code] of [
    ['contains no Node 24', () => Promise.resolve(), 'MODULE_NOT_FOUND'],
    ['has a Node 24 that may not be run', (file: string) => writeFile(file, '', { mode: 0o644 }), 'EACCES'],
    [
      'has a Node 24 whose loader is missing',
      (file: string) => writeFile(file, '#!/missing', { mode: 0o755 }),
      'ENOENT',
    ],
  ] as const) {
    it(`if an older Node starts serve and node_modules ${name}, serve exits 1 and says in one line that Node 24.7 is needed`, async () => {
      const folder = await newFolder();
      const installed = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`);
      await Promise.all([mkdir(join(folder, 'bin')), mkdir(installed, { recursive: true })]);
      await install(join(installed, 'node'));
      const copy = join(folder, 'bin/roomservice.mjs');
      await copyFile(join(import.meta.dirname, '../../../bin/roomservice.js'), copy);
      const { status, stderr } = spawnSync(node, [copy, 'serve'], { encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`^roomservice: Node 24\\.7 or later is needed.+\\(${code}\\).+"npm ci".+\n$`));
    });
  }
});
