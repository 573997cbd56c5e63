/**
 * Bundles `src` into `dist`, together with the libraries, and builds the console. So a command loads some files in place of more than a
 * thousand, and the npm package needs no compiler, because Node runs no TypeScript in node_modules.
 *
 * npm runs this script as `prepare` (after `npm ci` and in `npm pack`), and before `npm start` and `npm test`. The script is plain
 * JavaScript, because an older Node may run it. Commands run the sources if there is no bundle, so a failure only prints a line.
 */
import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isConsoleFresh, isFresh } from '../bin/bundle.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const CONSOLE = join(ROOT, 'console/dist');
/**
 * Libraries that are not bundled, because they find files beside their modules: also `jsonc-parser`, whose modules hide their imports.
 * `redis` is large and loaded seldom. `pg` does without its two optional packages.
 */
const EXTERNAL = ['pino', 'pino-pretty', 'piscina', '@scalar/*', 'redis', 'jsonc-parser', 'pg-native', 'pg-cloudflare'];

async function bundle() {
  const startedAt = new Date();
  const { build } = await import('esbuild');
  const folder = `${DIST}.${process.pid}`;
  try {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: ['src/service/cli/main.ts', 'src/restaurant/menu/menu-worker.ts'],
      entryNames: '[name]',
      // Node finds the format of a file with the ending .js in a package.json, which takes time for each file.
      outExtension: { '.js': '.mjs' },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external: EXTERNAL,
      // Libraries in CommonJS load the modules of Node by `require`.
      banner: {
        js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
      },
      sourcemap: true,
      sourcesContent: false,
      metafile: true,
      logLevel: 'silent',
    });
    writeFileSync(join(folder, 'LICENSES.txt'), licencesOf(metafile.inputs));
    // A source that changes while esbuild reads it is newer than the bundle.
    utimesSync(join(folder, 'main.mjs'), startedAt, startedAt);
    rmSync(DIST, { recursive: true, force: true });
    renameSync(folder, DIST);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the licences of all bundled packages, because the licences demand this of copies. */
function licencesOf(inputs) {
  const packages = Object.keys(inputs).flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const licences = [...new Set(packages)].map((name) => {
    const file = readdirSync(join(ROOT, name)).find((each) => /^licen[cs]e/i.test(each));
    return `${name}\n\n${file === undefined ? '' : readFileSync(join(ROOT, name, file), 'utf8')}`;
  });
  return licences.join('\n\n');
}

/** Builds the page of the console into `console/dist`, beside the present one, which is then replaced. */
async function buildConsole() {
  const { build } = await import('vite');
  const outDir = `${CONSOLE}.${process.pid}`;
  try {
    await build({ configFile: join(ROOT, 'console/vite.config.ts'), build: { outDir } });
    rmSync(CONSOLE, { recursive: true, force: true });
    renameSync(outDir, CONSOLE);
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

if (!isConsoleFresh()) {
  await buildConsole().catch((error) => {
    process.stderr.write(`The console was not built, and the API does without it: ${error.message}\n`);
  });
}
if (!isFresh()) {
  await bundle().catch((error) => {
    process.stderr.write(`Commands start more slowly, because the sources were not bundled: ${error.message}\n`);
  });
}
