import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { cleanUp, startServingProgram, stop, untilReady } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';

const MAX_IDLE_MB = 120;
/** Imports the code of `serve`, and prints the addresses of the loaded files and the names of the loaded modules of Node. */
const LOAD = `
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  await Promise.all([import('./serve.ts'), import('../app.ts'), import('../worker.ts')]);
  console.log(JSON.stringify([...urls, ...process.moduleLoadList.map((name) => name.replace('NativeModule ', ''))]));`;

after(cleanUp);

it('a start of serve loads no packages for metrics, Redis or terminal output, and loads no undici', async () => {
  const options = { cwd: import.meta.dirname, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', LOAD], options);
  const names = (JSON.parse(stdout) as string[]).map(
    (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? url,
  );
  const find = (...wanted: string[]) => wanted.filter((name) => names.includes(name));
  assert.deepEqual(find('fastify', 'pg', 'http'), ['fastify', 'pg', 'http']);
  assert.deepEqual(find('prom-client', 'pino-pretty', 'redis', 'undici', 'internal/deps/undici/undici'), []);
});

it(`serve uses less than ${MAX_IDLE_MB} MB before the first call`, {
  skip: process.platform !== 'linux' && 'Only Linux shows in /proc how much memory a process uses.',
}, async () => {
  const serving = await startServingProgram([], { env: { DATA_DIR: await newMigratedDataDir() } });
  await untilReady(serving);
  const status = await readFile(`/proc/${serving.pid}/status`, 'utf8');
  const idleMb = (Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
  await stop(serving);
  assert.ok(idleMb > 40 && idleMb < MAX_IDLE_MB, `${idleMb} MB`);
});
