import { readdirSync, statSync } from 'node:fs';

/** Module of the bundle that scripts/bundle.js makes of `src`. It exports the same as `src/service/cli/main.ts`. */
export const BUNDLE = new URL('../dist/main.mjs', import.meta.url);

const ROOT = new URL('../', import.meta.url);

/**
 * Returns true if the bundle exists, and nothing that it is made from is newer. In the npm package, which has no sources, it is
 * always fresh.
 */
export function isFresh() {
  const builtMs = changedMs(BUNDLE);
  const paths = readdirSync(new URL('src/', ROOT), { recursive: true }).filter((path) => /(?<!\.test)\.ts$/.test(path));
  const sources = ['package-lock.json', 'scripts/bundle.js', ...paths.map((path) => `src/${path}`)];
  return builtMs > 0 && sources.every((path) => changedMs(new URL(path, ROOT)) <= builtMs);
}

/** Returns the time of the last change of a file, or 0 if the file does not exist. */
function changedMs(url) {
  return statSync(url, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
