import assert from 'node:assert/strict';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, describe, it } from 'node:test';
import { cleanUp, newFolder, runCommand, succeed } from '#test/support/command.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const { dependencies } = (await import(join(REPOSITORY, 'package.json'), { with: { type: 'json' } })).default as {
  dependencies: Record<string, string>;
};
/** Command that loads the libraries typebox and kysely. It needs no database. */
const COMMAND = ['tenant', 'init'];

describe('bundles of libraries', () => {
  after(cleanUp);

  for (const name of ['typebox', 'kysely']) {
    it(`the bundle of ${name} exports the same names as the package`, async () => {
      const bundle = join(REPOSITORY, 'libraries', `${name}-${dependencies[name]}.js`);
      const typesOf = (module: Record<string, unknown>) =>
        Object.entries(module).map(([exported, value]) => `${exported}: ${typeof value}`);
      assert.deepEqual(typesOf(await import(pathToFileURL(bundle).href)), typesOf(await import(name)));
    });
  }

  it('a command loads the bundle of each library in place of the modules of the library', async () => {
    const { loaded } = await runRecorded(REPOSITORY);
    assert.deepEqual(loaded.filter((path) => path.startsWith('libraries/')).sort(), [
      `libraries/kysely-${dependencies['kysely']}.js`,
      `libraries/typebox-${dependencies['typebox']}.js`,
    ]);
    assert.deepEqual(
      loaded.filter((path) => /^node_modules\/(?:typebox|kysely)\//.test(path)),
      [],
    );
  });

  it('if the bundles are missing, a command loads the modules of the libraries, and prints the same output as with the bundles', async () => {
    const folder = await newFolder();
    await cp(join(REPOSITORY, 'bin'), join(folder, 'bin'), { recursive: true });
    await cp(join(REPOSITORY, 'src'), join(folder, 'src'), { recursive: true });
    await cp(join(REPOSITORY, 'package.json'), join(folder, 'package.json'));
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
    const [{ loaded, stdout }, { stdout: expected }] = await Promise.all([runRecorded(folder), succeed(COMMAND)]);
    assert.ok(loaded.some((path) => path.includes('node_modules/typebox/')));
    assert.ok(loaded.some((path) => path.includes('node_modules/kysely/')));
    const withoutPassword = (text: string) => text.replace(/"password": "[^"]*"/, '"password"');
    assert.equal(withoutPassword(stdout), withoutPassword(expected));
  });
});

/**
 * Runs `COMMAND` with the program `bin/roomservice.js` of a checkout.
 * @param folder path of the checkout
 * @returns stdout, and the paths of the loaded modules, relative to `folder`
 */
async function runRecorded(folder: string): Promise<{ loaded: string[]; stdout: string }> {
  const recorder = join(await newFolder(), 'recorder.mjs');
  await writeFile(
    recorder,
    `import { registerHooks } from 'node:module';
     registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) });`,
  );
  const { code, stdout, stderr } = await runCommand(COMMAND, {
    program: join(folder, 'bin/roomservice.js'),
    env: { NODE_OPTIONS: `--import ${pathToFileURL(recorder).href}` },
  });
  assert.equal(code, 0, stderr);
  return { loaded: stderr.split('\n').map((url) => url.replace(`${pathToFileURL(folder).href}/`, '')), stdout };
}
