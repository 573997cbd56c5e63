import { offence, offencesOf } from './source.ts';
import type { SourceFile } from './source.ts';

const SQL =
  /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(|\bsql(?:(?:<[^`]*>)?`|\.\w+\()/g;
const DRIVER = /\bfrom 'pg(?:-[a-z-]+)?'/g;
const OUTBOUND =
  /\bimport\s+(?!type\b)(?:\w+|\*\s*as\s+\w+|\{[^}]*(?<!type )\b(?:request|get|connect|Agent)\b[^}]*\})\s*(?:,[^;]*?)?\bfrom 'node:http[s2]?'|\bfrom 'undici'/g;

/** SQL stands in stores and in db/, nowhere else; the driver in db/ alone. */
export function sqlOutsideStores(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (file.path.startsWith('src/platform/db/')) return [];
    const driver = offencesOf(file, file.uncommented, DRIVER, 'the driver is used in src/platform/db alone');
    if (/(?:\/|-)store\.ts$/.test(file.path)) return driver;
    return [
      ...offencesOf(file, file.code, SQL, 'SQL stands in store.ts, *-store.ts and src/platform/db alone'),
      ...driver,
    ];
  });
}

/**
 * The service's one sender, which vets addresses (decision 34); and the client of `roomservice listen`, which runs on a developer's own
 * machine, as them, and is no part of a service.
 */
const OUTBOUND_FILES = new Set(['src/webhooks/deliveries/send.ts', 'src/developer/listen/http.ts']);

/** Whatever calls another host goes through the one sender. */
export function outboundHttp(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (OUTBOUND_FILES.has(file.path)) return [];
    const message = 'HTTP leaves through src/webhooks/deliveries/send.ts alone';
    return [
      ...offencesOf(file, file.uncommented, OUTBOUND, message),
      ...offencesOf(file, file.code, /(?<![.\w])(?:globalThis\.)?fetch\(|\bnew WebSocket\(/g, message),
    ];
  });
}

export function barrels(files: SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...(file.path.endsWith('/index.ts') ? [`${file.path}:1: a barrel; import the file itself`] : []),
    ...offencesOf(file, file.code, /\bexport \*/g, 'a barrel; export by name, where the thing is'),
  ]);
}

/** A test that does not run must say why. */
export function silencedTests(files: SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...offencesOf(file, file.code, /\.only\(|\bonly: true/g, 'only a part of the tests would run'),
    ...offencesOf(
      file,
      file.code,
      /\b(?:test|it|describe|suite|t)\.(?:skip|todo)\(\s*\)|\b(?:skip|todo): true/g,
      'say why',
    ),
    ...offencesOf(file, file.code, /\b(?:test|it|describe|suite)\.(?:skip|todo)\(/g, 'use { skip: "the reason" }'),
  ]);
}

/** Whoever silences the linter says why, behind two dashes. */
export function unexplainedSilence(files: SourceFile[]): string[] {
  return files.flatMap((file) =>
    [...file.text.matchAll(/\b(?:ox|es)lint-disable(?!.* -- \S)/g)]
      .filter((match) => file.uncommented.charAt(match.index) === ' ')
      .map((match) => offence(file.path, file.text, match.index, 'say why, behind " -- "')),
  );
}

/** Paths of one machine. Written in pieces, so that this file does not hold what it looks for. */
const MACHINE_PATH = new RegExp(`(?<![\\w.*])/(?:${['work', 'root', 'home', 'Users'].join('|')})/`, 'g');

export function machinePaths(path: string, text: string): string[] {
  return [...text.matchAll(MACHINE_PATH)].map((match) => offence(path, text, match.index, 'a path of one machine'));
}
