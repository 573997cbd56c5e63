import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redocly } from './redocly.ts';

/** OpenAPI keywords whose values are texts for people. A change of these texts breaks no client. */
const PROSE = new Set(['title', 'summary', 'description', 'example', 'examples']);

interface Report {
  changes: { kind: string; verdicts: Verdict[]; revision?: { value?: unknown } }[];
}

interface Verdict {
  impact: string;
  message: string;
  location: { pointer: string };
}

/**
 * Returns the changes that break a client of the previous document, each as a text `pointer: message`. If a change adds a part to the
 * document, for example a schema, the text ends with this part as JSON.
 *
 * The function removes the `PROSE` keywords, for example descriptions, before the comparison. `redocly diff` compares each parameter with
 * the most similar parameter of the previous document. So a changed description could make `redocly diff` compare two different parameters.
 * @throws Error if `redocly diff` fails
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
      throw new Error(`Redocly cannot compare the documents: ${output}`);
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

/**
 * Returns a copy of the node without the `PROSE` keywords.
 * @param areNames true if the keys of the node are field names of the API, for example in `properties`. The copy then keeps all keys,
 * because a field of the API may be named `description`.
 */
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
