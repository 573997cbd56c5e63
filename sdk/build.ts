/** Compiles the SDK twice, for `import` and for `require`, each with types of its own kind, into `dist`. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = import.meta.dirname;
const TSC = join(SDK, '..', 'node_modules', 'typescript', 'bin', 'tsc');

rmSync(join(SDK, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.commonjs.json']) {
  execFileSync(process.execPath, [TSC, '--project', join(SDK, project)], { stdio: 'inherit' });
}
// The compiler rewrites the paths of imports in code alone; in types, older compilers refuse those that end with .ts.
for (const path of globSync(join(SDK, 'dist', '**', '*.d.ts'))) {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/( from '\.[^']*)\.ts'/g, "$1.js'"));
}
writeFileSync(join(SDK, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
