import { offence, offencesOf } from './source.ts';
import type { SourceFile } from './source.ts';

const SQL =
  /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(|\bsql(?:(?:<[^`]*>)?`|\.\w+\()/g;
const DRIVER = /\bfrom 'pg(?:-[a-z-]+)?'/g;
const OUTBOUND =
  /\bimport\s+(?!type\b)(?:\w+|\*\s*as\s+\w+|\{[^}]*(?<!type )\b(?:request|get|connect|Agent)\b[^}]*\})\s*(?:,[^;]*?)?\bfrom 'node:(?:http[s2]?|tls)'|\bfrom 'undici'/g;

/**
 * Finds SQL outside of the store files (`store.ts` and `*-store.ts`) and the folders of the database. Also finds
 * imports of the database driver outside of these folders.
 */
export function sqlOutsideStores(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (/^src\/platform\/(?:db|copy)\//.test(file.path)) return [];
    const driver = offencesOf(
      file,
      file.uncommented,
      DRIVER,
      'Only src/platform/db and src/platform/copy may use the database driver.',
    );
    if (/(?:\/|-)store\.ts$/.test(file.path)) return driver;
    return [
      ...offencesOf(
        file,
        file.code,
        SQL,
        'Only store.ts, *-store.ts, src/platform/db and src/platform/copy may contain SQL.',
      ),
      ...driver,
    ];
  });
}

/**
 * Files that may make HTTP requests or open TLS connections. The connector of the webhook sender checks the addresses that it connects to
 * (rule 34). `outgoing.ts` calls servers that the operator has configured. The client of `roomservice listen` runs on a partner's
 * machine and is not part of the service.
 */
const OUTBOUND_FILES = new Set([
  'src/webhooks/deliveries/vetting-connector.ts',
  'src/platform/http/outgoing.ts',
  'src/developer/listen/http.ts',
]);

/** Finds code outside of `OUTBOUND_FILES` that makes HTTP requests. */
export function outboundHttp(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (OUTBOUND_FILES.has(file.path)) return [];
    const message = `Only ${[...OUTBOUND_FILES].join(' and ')} may make HTTP requests. Use WebhookSender for URLs of partners.`;
    return [
      ...offencesOf(file, file.uncommented, OUTBOUND, message),
      ...offencesOf(file, file.code, /(?<![.\w])(?:globalThis\.)?fetch\(|\bnew WebSocket\(/g, message),
    ];
  });
}

/** Finds barrels. A barrel is a file with the name index.ts, or a file that contains `export *`. */
export function barrels(files: SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...(file.path.endsWith('/index.ts')
      ? [`${file.path}:1: This file is a barrel. Remove it, and import the files themselves.`]
      : []),
    ...offencesOf(
      file,
      file.code,
      /\bexport \*/g,
      '`export *` makes this file a barrel. Export by name, in the file of the definition.',
    ),
  ]);
}

/** Finds tests that are marked `only`. Also finds tests that are skipped or marked `todo`, if they give no reason. */
export function skippedTests(files: SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...offencesOf(file, file.code, /\.only\(|\bonly: true/g, 'With `only`, the other tests do not run. Remove it.'),
    ...offencesOf(
      file,
      file.code,
      /\b(?:test|it|describe|suite|t)\.(?:skip|todo)\(\s*\)|\b(?:skip|todo): true/g,
      'Give the reason why the test does not run.',
    ),
    ...offencesOf(
      file,
      file.code,
      /\b(?:test|it|describe|suite)\.(?:skip|todo)\(/g,
      'Use { skip: "the reason" } instead.',
    ),
  ]);
}

/** Finds comments that disable a lint rule but do not give a reason after two dashes. */
export function disabledRules(files: SourceFile[]): string[] {
  return files.flatMap((file) =>
    [...file.text.matchAll(/\b(?:ox|es)lint-disable(?!.* -- \S)/g)]
      .filter((match) => file.uncommented.charAt(match.index) === ' ')
      .map((match) =>
        offence(file.path, file.text, match.index, 'Give the reason for the disabled rule after " -- ".'),
      ),
  );
}

/**
 * Pattern of absolute paths that exist only on one machine. The code joins the pattern from pieces, because the rule also checks this file.
 * Otherwise it would report the pattern itself.
 */
const MACHINE_PATH = new RegExp(`(?<![\\w.*])/(?:${['work', 'root', 'home', 'Users'].join('|')})/`, 'g');

export function machinePaths(path: string, text: string): string[] {
  return [...text.matchAll(MACHINE_PATH)].map((match) =>
    offence(path, text, match.index, 'This path exists only on one machine. Use a relative path.'),
  );
}
