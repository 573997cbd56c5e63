/**
 * Compiles `src` into `dist` for the npm package, because Node runs no TypeScript below node_modules. `npm pack` runs this script. The checkout
 * needs no build, and `bin/roomservice.js` does not use `dist` there.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..');
const SOURCES = join(REPOSITORY, 'src');
const DIST = join(REPOSITORY, 'dist');
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, '--project', join(REPOSITORY, 'tsconfig.package.json')], { stdio: 'inherit' });
// The service reads or sends the other files as they are, for example the scripts and styles of its pages.
cpSync(SOURCES, DIST, { recursive: true, filter: (path) => !path.endsWith('.ts') });
writeFileSync(
  join(DIST, 'package.json'),
  `${JSON.stringify({ type: 'module', imports: compiledImports() }, null, 2)}\n`,
);

/**
 * Returns the aliases of `dist/package.json`, which Node reads instead of those of `package.json`. They lead from `#platform/errors.ts` to
 * `dist/platform/errors.js`, because the compiler rewrites only relative imports.
 */
function compiledImports(): Record<string, string> {
  const { imports } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    imports: Record<string, string>;
  };
  const ofSources = Object.entries(imports).filter(([, target]) => target.startsWith('./src/'));
  return Object.fromEntries(
    ofSources.map(([alias, target]) => [`${alias}.ts`, `${target.replace('./src/', './')}.js`]),
  );
}
