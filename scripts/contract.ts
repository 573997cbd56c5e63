/**
 * Checks the committed OpenAPI documents. Each document must pass the rules of contract/redocly.yaml without a warning. A change from its previous
 * version must not break a client, unless scripts/contract/accepted.ts lists the change.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { notAccepted } from './contract/accepted.ts';
import { breakingChanges } from './contract/breaking.ts';
import { documentBefore } from './contract/history.ts';
import { redocly } from './contract/redocly.ts';

const REPOSITORY = join(import.meta.dirname, '..');

async function main(): Promise<void> {
  const files = (await readdir(join(REPOSITORY, 'contract'))).filter((file) => file.endsWith('.json'));
  const paths = files.map((file) => `contract/${file}`);
  const faults = await Promise.all([lint(paths), ...paths.map(compare)]);
  for (const fault of faults) {
    if (fault === null) continue;
    console.error(fault);
    process.exitCode = 1;
  }
}

async function lint(paths: string[]): Promise<string | null> {
  const { isGood, output } = await redocly('lint', ...paths);
  return isGood && !/\bwarning/i.test(output) ? null : output.trim();
}

/** Compares a document with its version before. The staff's API has no published client yet, so it may change freely. */
async function compare(path: string): Promise<string | null> {
  if (basename(path) === 'staff.json') {
    return null;
  }
  const before = await documentBefore(REPOSITORY, path);
  if (before === null) {
    console.log(`${path}: git has no previous version, so there is no comparison.`);
    return null;
  }
  const changes = await breakingChanges(before, await readFile(join(REPOSITORY, path), 'utf8'));
  const faults = notAccepted(basename(path, '.json'), changes);
  return faults.length === 0
    ? null
    : `${path} breaks clients of the previous version. Keep the old parts and add new ones, or begin a new version of the paths. ` +
        `To accept a breaking change, list it in scripts/contract/accepted.ts.\n${faults.join('\n')}`;
}

await main();
