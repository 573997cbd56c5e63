/**
 * Compiles `src` into `dist` for the npm package, because Node does not run TypeScript in node_modules. `npm pack` runs this script. A
 * checkout needs no `dist`, because `bin/roomservice.js` runs `src` there.
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
// Copies the files that are not TypeScript, for example the scripts and styles of the pages. The service reads or sends them as they are.
cpSync(SOURCES, DIST, { recursive: true, filter: (path) => !path.endsWith('.ts') });
writeFileSync(
  join(DIST, 'package.json'),
  `${JSON.stringify({ type: 'module', imports: compiledImports() }, null, 2)}\n`,
);

/**
 * Returns the field `imports` for `dist/package.json`. It maps an import such as `#platform/errors.ts` to the compiled file
 * `dist/platform/errors.js`. The field is needed, because the compiler changes `.ts` to `.js` only in relative imports.
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
