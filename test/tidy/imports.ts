import { posix } from 'node:path';
import { offence, placeOf } from './source.ts';
import type { Place, SourceFile } from './source.ts';

/** The wings from the ground up. A wing imports those of the lines above its own, never its neighbour. */
const WINGS = [
  ['platform'],
  ['access'],
  ['webhooks'],
  ['restaurant', 'hotel'],
  ['developer', 'staff'],
  ['service'],
  ['tools'],
];
/** The rooms of each wing, in the same order. */
const ROOMS: Record<string, string[][]> = {
  platform: [['errors', 'lib'], ['config', 'db'], ['keys', 'changes'], ['http']],
  access: [['audit'], ['tenants'], ['credentials']],
  webhooks: [['events'], ['deliveries']],
  restaurant: [['menu'], ['orders']],
  hotel: [['rooms'], ['rates'], ['nights'], ['reservations'], ['channels', 'pms']],
  developer: [['docs', 'listen', 'sandbox']],
  staff: [],
  service: [['app', 'worker', 'tenant-document'], ['cli']],
  tools: [['openapi']],
};
/** A wing of plain tools: any file of it may be imported. */
const TECHNICAL = new Set(['platform/db', 'platform/http', 'platform/lib']);
/** They write the wiring out, so they may name every part of a folder but its SQL. */
const COMPOSITION_ROOTS = new Set(['service', 'tools']);
const STORE = /(?:\/|-)store\.ts$/;

interface Import {
  from: SourceFile;
  index: number;
  specifier: string;
  /** The imported file's path in the repository. */
  to: string;
}

const IMPORT = /\b(?:import|export)\s[^'";]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;

export function importDirection(files: SourceFile[]): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    const unknown = [importer, imported].find((place) => rankOf(place) === null);
    if (unknown !== undefined) return `"${nameOf(unknown)}" has no place in the order (test/tidy/imports.ts)`;
    return isBelow(imported, importer)
      ? null
      : `imports go down only: "${nameOf(importer)}" must not import "${nameOf(imported)}"`;
  });
}

function isBelow(imported: Place, importer: Place): boolean {
  if (imported.wing === 'webhooks' && importer.wing === 'webhooks') return true;
  const [below = [0, 0], above = [0, 0]] = [rankOf(imported) ?? undefined, rankOf(importer) ?? undefined];
  if (imported.wing !== importer.wing) return below[0] < above[0];
  return imported.room === importer.room || below[1] < above[1];
}

export function frontFilesOnly(files: SourceFile[]): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    if (nameOf(importer) === nameOf(imported) || TECHNICAL.has(nameOf(imported))) return null;
    if (imported.wing === 'webhooks' && importer.wing === 'webhooks') return null;
    const folder = `src/${nameOf(imported)}`;
    if (to === `${folder}.ts` || to === `${folder}/${imported.room}.ts`) return null;
    if (COMPOSITION_ROOTS.has(importer.wing) && !STORE.test(to)) return null;
    return `across folders only the front file is imported (${folder}/${imported.room}.ts), not ${to}`;
  });
}

/** Relative inside a wing, by the wing's alias across wings. */
export function pathsOfImports(files: SourceFile[]): string[] {
  return check(files, ({ from, specifier, to }) => {
    if (specifier.startsWith('../../')) return `an import goes up one folder at most: ${specifier}`;
    const isInside = placeOf(from.path).wing === placeOf(to).wing;
    if (isInside === specifier.startsWith('.')) return null;
    return isInside
      ? `inside a wing imports are relative: ${specifier}`
      : `another wing is imported by its alias: ${specifier}`;
  });
}

function rankOf({ wing, room }: Place): [wing: number, room: number] | null {
  const floor = WINGS.findIndex((wings) => wings.includes(wing));
  const rank = (ROOMS[wing] ?? []).findIndex((rooms) => rooms.includes(room));
  return floor < 0 || rank < 0 ? null : [floor, rank];
}

function nameOf({ wing, room }: Place): string {
  return `${wing}/${room}`;
}

function check(files: SourceFile[], fault: (found: Import) => string | null): string[] {
  return files.flatMap(importsOf).flatMap((found) => {
    const message = fault(found);
    return message === null ? [] : [offence(found.from.path, found.from.text, found.index, message)];
  });
}

/** What a file imports of the repository, by a relative path or an alias. */
function importsOf(from: SourceFile): Import[] {
  return [...from.uncommented.matchAll(IMPORT)].flatMap((match) => {
    const specifier = match[1] ?? match[2] ?? '';
    if (specifier.startsWith('.')) {
      return [{ from, index: match.index, specifier, to: posix.join(posix.dirname(from.path), specifier) }];
    }
    return specifier.startsWith('#') ? [{ from, index: match.index, specifier, to: `src/${specifier.slice(1)}` }] : [];
  });
}
