import { posix } from 'node:path';
import { heightOf, isBelow, nameOf, placeOf, type Drawing } from './drawing.ts';
import { offence } from './source.ts';
import type { SourceFile } from './source.ts';

/** Rooms of plain tools, without a front file: other rooms import each file of theirs. */
const TECHNICAL = new Set(['platform/db', 'platform/http', 'platform/lib']);
/** They write the wiring out, so they may name every part of a room but its SQL. */
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

/** An import goes to a floor below, or inside a wing to a room of a lower rank. */
export function importDirection(files: SourceFile[], drawing: Drawing): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    const unknown = [importer, imported].find((place) => heightOf(drawing, place) === null);
    if (unknown !== undefined) return `"${nameOf(unknown)}" is not in the drawing of docs/ARCHITECTURE.md`;
    return isBelow(drawing, imported, importer)
      ? null
      : `imports go down only: "${nameOf(importer)}" must not import "${nameOf(imported)}"`;
  });
}

/** Wings and rooms that are drawn and not there, or there and not drawn. */
export function notAsDrawn(files: SourceFile[], drawing: Drawing): string[] {
  const there = new Set(files.map(({ path }) => nameOf(placeOf(path))));
  const drawn = new Set([...drawing.rooms].flatMap(([wing, ranks]) => ranks.flat().map((room) => `${wing}/${room}`)));
  return [
    ...[...there.difference(drawn)].map((place) => `${place} is not in the drawing of docs/ARCHITECTURE.md`),
    ...[...drawn.difference(there)].map((place) => `${place} is drawn in docs/ARCHITECTURE.md, and does not exist`),
  ];
}

/** Rows of the table of wings whose "imports" are not what the code imports. */
export function importsNotAsTold(files: SourceFile[], markdown: string): string[] {
  const imports = new Map<string, Set<string>>();
  for (const { from, to } of files.flatMap(importsOf)) {
    const [importer, imported] = [placeOf(from.path).wing, placeOf(to).wing];
    const found = imports.get(importer) ?? new Set();
    imports.set(importer, importer === imported ? found : found.add(imported));
  }
  return [...imports].flatMap(([wing, found]) => {
    const row = markdown.split('\n').find((line) => line.startsWith(`| \`${wing}/`));
    const told = new Set([...(row?.split('|')[3] ?? '').matchAll(/\w+/g)].map(([name]) => name));
    const list = [...found].sort().join(', ');
    return told.symmetricDifference(found).size === 0
      ? []
      : [`the table of wings in docs/ARCHITECTURE.md must say that ${wing}/ imports: ${list || '–'}`];
  });
}

/** Across rooms only front files are imported, so that what is inside a room may change alone. */
export function frontFilesOnly(files: SourceFile[]): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    if (nameOf(importer) === nameOf(imported) || TECHNICAL.has(nameOf(imported))) return null;
    const folder = `src/${nameOf(imported)}`;
    if (to === `${folder}.ts` || to === `${folder}/${imported.room}.ts`) return null;
    if (COMPOSITION_ROOTS.has(importer.wing) && !STORE.test(to)) return null;
    return `across rooms only the front file is imported (${folder}/${imported.room}.ts), not ${to}`;
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
