/**
 * Checks the committed OpenAPI documents: each is well-formed by the rules of redocly.yaml, without a warning, and breaks no
 * client that was written for the version before, but for what was decided (scripts/contract/accepted.ts).
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

async function compare(path: string): Promise<string | null> {
  const before = await documentBefore(REPOSITORY, path);
  if (before === null) {
    console.log(`${path}: git knows no version before this one, so nothing is compared`);
    return null;
  }
  if (!isPublished(before)) {
    console.log(`${path}: the version before was never published, so nobody was written for it`);
    return null;
  }
  const changes = await breakingChanges(before, await readFile(join(REPOSITORY, path), 'utf8'));
  const faults = notAccepted(basename(path, '.json'), changes);
  return faults.length === 0
    ? null
    : `${path} breaks clients of the version before. Add beside what there is, or begin a new version of the paths. ` +
        `What was decided all the same is listed in scripts/contract/accepted.ts.\n${faults.join('\n')}`;
}

/** Documents are served, and say so, since they carry `servers`. */
function isPublished(document: string): boolean {
  return 'servers' in (JSON.parse(document) as object);
}

await main();
