import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redocly } from './redocly.ts';

/** What can be said in other words without breaking anybody. */
const PROSE = new Set(['title', 'summary', 'description', 'example', 'examples']);

/** As much of the report of `redocly diff` as is looked at. */
interface Report {
  changes: { kind: string; verdicts: Verdict[]; revision?: { value?: unknown } }[];
}

interface Verdict {
  impact: string;
  message: string;
  location: { pointer: string };
}

/**
 * Tells what in a document breaks a client that was written for the one before: each change as `pointer: what it is`, with the value of
 * what was added. Prose is left out: `redocly diff` matches the entries of a list by how alike they are, so that a longer
 * description of a parameter would look like another parameter.
 */
export async function breakingChanges(before: string, after: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-contract-'));
  try {
    const [beforeFile, afterFile, reportFile] = ['before', 'after', 'report'].map((name) =>
      join(folder, `${name}.json`),
    ) as [string, string, string];
    await writeFile(beforeFile, JSON.stringify(withoutProse(JSON.parse(before))));
    await writeFile(afterFile, JSON.stringify(withoutProse(JSON.parse(after))));
    const options = ['--fail-on=none', '--format=json', `--output=${reportFile}`];
    const { isGood, output } = await redocly('diff', beforeFile, afterFile, ...options);
    if (!isGood) {
      throw new Error(`redocly cannot compare the documents: ${output}`);
    }
    return majorChanges(JSON.parse(await readFile(reportFile, 'utf8')) as Report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function majorChanges({ changes }: Report): string[] {
  return changes.flatMap(({ kind, verdicts, revision }) => {
    const value = kind === 'added' ? ` ${JSON.stringify(revision?.value)}` : '';
    const major = verdicts.filter(({ impact }) => impact === 'major');
    return major.map(({ message, location }) => `${location.pointer}: ${message}${value}`);
  });
}

/** @param areNames the keys are names of fields, not keywords: one may well be called `description` */
function withoutProse(node: unknown, areNames = false): unknown {
  if (Array.isArray(node)) {
    return node.map((each: unknown) => withoutProse(each));
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  const kept = Object.entries(node).filter(([key]) => areNames || !PROSE.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutProse(value, !areNames && key === 'properties')]));
}
