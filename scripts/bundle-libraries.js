/**
 * Bundles `typebox` and `kysely` into `libraries`, so that a command loads two files in place of 628 modules. This saves up to two fifths
 * of the processor time of a command (docs/decisions/0006-runtime.md). `src/service/cli/resolve-imports.js` leads the imports of the two
 * libraries to the bundles.
 *
 * npm runs this script as `prepare`: after `npm ci`, and in `npm pack` after `prepack`. The script is plain JavaScript, because an older
 * Node may run it. A command also works without the bundles, so a failure only prints a message.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const LIBRARIES = join(REPOSITORY, 'libraries');
/** Libraries, each with the path of its licence. A bundle begins with the text of the licence, because the licences demand this of copies. */
const LICENCES = { typebox: 'typebox/license', kysely: 'kysely/LICENSE' };

async function bundleLibraries() {
  const { buildSync } = await import('esbuild');
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  const bundles = Object.keys(LICENCES).map((name) => `${name}-${dependencies[name]}.js`);
  mkdirSync(LIBRARIES, { recursive: true });
  for (const outdated of readdirSync(LIBRARIES).filter((file) => !bundles.includes(file))) {
    rmSync(join(LIBRARIES, outdated));
  }
  for (const [name, licence] of Object.entries(LICENCES)) {
    const text = readFileSync(join(REPOSITORY, 'node_modules', licence), 'utf8');
    // The name contains the version, so a command never loads the bundle of another version.
    const path = join(LIBRARIES, `${name}-${dependencies[name]}.js`);
    buildSync({
      entryPoints: [fileURLToPath(import.meta.resolve(name))],
      outfile: `${path}.new`,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      banner: { js: `/*\n${text}*/` },
    });
    // The bundle gets its final name only after it is complete. So a command that starts during the bundling reads no incomplete bundle.
    renameSync(`${path}.new`, path);
  }
}

await bundleLibraries().catch((error) => {
  process.stderr.write(`Commands start more slowly, because no libraries were bundled: ${error.message}\n`);
});
