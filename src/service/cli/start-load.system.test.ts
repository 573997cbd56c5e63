import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

/**
 * Imports the code of `serve` in a new process. Returns the names of all packages and of all built-in modules of Node that this process has
 * loaded.
 */
async function loadedByServe(): Promise<Set<string>> {
  const source = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    await Promise.all([import('./serve.ts'), import('../app.ts'), import('../worker.ts')]);
    console.log(JSON.stringify({ urls, ofNode: process.moduleLoadList }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: import.meta.dirname,
    maxBuffer: 16 * 1024 * 1024,
  });
  const { urls, ofNode } = JSON.parse(stdout) as { urls: string[]; ofNode: string[] };
  const packages = urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  return new Set([...packages, ...ofNode.map((name) => name.replace('NativeModule ', ''))]);
}

describe('import of the code of serve', () => {
  it('a start of serve loads no packages for metrics, Redis or terminal output, and loads no undici', async () => {
    const loaded = await loadedByServe();
    for (const name of ['fastify', 'pg', 'http']) {
      assert.ok(loaded.has(name), `${name} is found among the loaded parts`);
    }
    const spared = ['prom-client', 'pino-pretty', 'redis', 'undici', 'internal/deps/undici/undici'];
    assert.deepEqual(
      spared.filter((name) => loaded.has(name)),
      [],
    );
  });
});
