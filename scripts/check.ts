/**
 * Runs these checks concurrently: types, lint, format, structure of the repository, generated files and contract. They need no running
 * service.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..');

const CHECKS: Record<string, string[]> = {
  types: bin('tsc', '--noEmit'),
  console: bin('tsc', '--noEmit', '-p', 'console'),
  lint: bin('oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives'),
  format: bin('biome', 'format'),
  structure: ['--test', '--test-reporter=dot', 'test/tidy.test.ts', 'test/tidy/rules.test.ts'],
  generated: ['scripts/generate.ts', '--check'],
  contract: ['scripts/contract.ts'],
};

async function main(): Promise<void> {
  const results = await Promise.all(Object.entries(CHECKS).map(([name, command]) => run(name, command)));
  process.exitCode = results.every((passed) => passed) ? 0 : 1;
}

/** Runs one check with the Node of this process. Prints the result of the check, and also its output if it fails. */
async function run(name: string, command: string[]): Promise<boolean> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, command, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const passed = await new Promise<boolean>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${seconds} s`);
  if (!passed) console.log(Buffer.concat(output).toString('utf8').trimEnd());
  return passed;
}

function bin(name: string, ...options: string[]): string[] {
  return [join('node_modules', '.bin', name), ...options];
}

await main();
