import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redocly } from './redocly.ts';

/** What can be said in other words without breaking anybody. */
const PROSE = new Set(['title', 'summary', 'description', 'example', 'examples']);

/**
 * Tells what in a document breaks a client that was written for the one before; null where nothing does. Prose is left out:
 * `redocly diff` matches the entries of a list by how alike they are, so that a longer description of a parameter would look
 * like another parameter.
 */
export async function breakingChanges(before: string, after: string): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-contract-'));
  try {
    const [beforeFile, afterFile] = [join(folder, 'before.json'), join(folder, 'after.json')];
    await writeFile(beforeFile, JSON.stringify(withoutProse(JSON.parse(before))));
    await writeFile(afterFile, JSON.stringify(withoutProse(JSON.parse(after))));
    const { isGood, output } = await redocly('diff', beforeFile, afterFile, '--fail-on=major');
    return isGood ? null : output.replaceAll(`${folder}/`, '').trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
