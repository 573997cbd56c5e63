import { readdirSync, statSync } from 'node:fs';

/** Module of the bundle that scripts/bundle.js makes of `src`. It exports the same as `src/service/cli/main.ts`. */
export const BUNDLE = new URL('../dist/main.mjs', import.meta.url);

const ROOT = new URL('../', import.meta.url);

/**
 * Returns true if the bundle exists, and nothing that it is made from is newer. In the npm package, which has no sources, it is
 * always fresh.
 */
export function isFresh() {
  return isNewest(BUNDLE, 'src', /(?<!\.test)\.ts$/);
}

/** Returns true if the page of the console exists, and nothing that it is made from is newer. */
export function isConsoleFresh() {
  return isNewest(new URL('console/dist/index.html', ROOT), 'console/src', /./);
}

function isNewest(built, folder, pattern) {
  const builtMs = changedMs(built);
  const paths = readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' }).filter((path) =>
    pattern.test(path),
  );
  const sources = ['package-lock.json', 'scripts/bundle.js', ...paths.map((path) => `${folder}/${path}`)];
  return builtMs > 0 && sources.every((path) => changedMs(new URL(path, ROOT)) <= builtMs);
}

/** Returns the time of the last change of a file, or 0 if the file does not exist. */
function changedMs(url) {
  return statSync(url, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
