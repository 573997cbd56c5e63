/** Compiles the SDK into `dist` twice: as ES modules for `import` and as CommonJS for `require`, each with its own type declarations. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = import.meta.dirname;
const TSC = join(SDK, '..', 'node_modules', 'typescript', 'bin', 'tsc');

rmSync(join(SDK, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.commonjs.json']) {
  execFileSync(process.execPath, [TSC, '--project', join(SDK, project)], { stdio: 'inherit' });
}
// The type declarations still import `.ts` paths, because the compiler rewrites such imports only in the code. Older compilers refuse these
// declarations, so this loop changes the imports to `.js`.
for (const path of globSync(join(SDK, 'dist', '**', '*.d.ts'))) {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/( from '\.[^']*)\.ts'/g, "$1.js'"));
}
writeFileSync(join(SDK, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
