import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, appendFile, cp, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, runProgram } from '#test/support/command.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');

describe('the bundle of a checkout', () => {
  let folder: string;

  before(async () => {
    folder = await newFolder();
    await mkdir(join(folder, 'scripts'));
    const isSource = (path: string) => !path.endsWith('console/dist');
    for (const name of ['bin', 'src', 'console', 'scripts/bundle.js', 'package.json', 'tsconfig.json']) {
      await cp(join(REPOSITORY, name), join(folder, name), { recursive: true, filter: isSource });
    }
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(
      join(folder, 'src/service/version.ts'),
      "export const readVersion = () => {\n  throw Error('x');\n};",
    );
  });
  after(cleanUp);

  const bundle = () => spawnSync(process.execPath, ['scripts/bundle.js'], { cwd: folder, encoding: 'utf8' });

  /** Runs a command that fails with the error of `version.ts`. Returns what it prints on stderr. */
  async function errorOfCommand(): Promise<string> {
    const { code, stderr } = await runProgram(['migrate'], { program: join(folder, 'bin/roomservice.js') });
    assert.equal(code, 1);
    assert.match(stderr, /src\/service\/version\.ts:2:/);
    return stderr;
  }

  it('a command runs the bundle if no source is newer, and its stack traces name the sources', async () => {
    assert.doesNotMatch(await errorOfCommand(), /bundle runs/, 'without a bundle');
    const { status, stderr } = bundle();
    assert.deepEqual([status, stderr], [0, '']);
    await access(join(folder, 'console/dist/index.html'));
    await appendFile(join(folder, 'dist/main.mjs'), "\nprocess.stderr.write('bundle runs');");
    assert.match(await errorOfCommand(), /bundle runs/, 'with a bundle');
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, 'src/service/app.ts'), later, later);
    assert.doesNotMatch(await errorOfCommand(), /bundle runs/, 'with a newer source');
  });

  it('without its libraries, the build prints a line for the console and one for the bundle, and exits 0, so that an installation does not fail', async () => {
    await rm(join(folder, 'node_modules'));
    await rm(join(folder, 'dist'), { recursive: true, force: true });
    await rm(join(folder, 'console/dist'), { recursive: true, force: true });
    const { status, stdout, stderr } = bundle();
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(
      stderr,
      /^The console was not built, .+\nCommands start more slowly, because the sources were not bundled: .+\n$/,
    );
  });
});
