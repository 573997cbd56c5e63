import { posix } from 'node:path';
import { heightOf, isBelow, nameOf, placeOf, type Drawing } from './drawing.ts';
import { offence } from './source.ts';
import type { SourceFile } from './source.ts';

/**
 * Modules without a front file. A front file has the name of its module and is the only file that other modules may import. Because these
 * modules have no such file, other modules may import every file of them.
 */
const TECHNICAL = new Set(['platform/db', 'platform/http', 'platform/lib']);
/**
 * Folders whose code assembles the service or a tool from the modules of the other folders. This code may import every file of another
 * module, except the store files, which contain the SQL of the module.
 */
const COMPOSITION_ROOTS = new Set(['service', 'scripts']);
const STORE = /(?:\/|-)store\.ts$/;

interface Import {
  from: SourceFile;
  index: number;
  specifier: string;
  /** Path of the imported file, relative to the root of the repository. */
  to: string;
}

const IMPORT = /\b(?:import|export)\s[^'";]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;

/** Finds imports between two modules if the imported module is not below the importing module in the diagram of docs/ARCHITECTURE.md. */
export function importDirection(files: SourceFile[], drawing: Drawing): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    const unknown = [importer, imported].find((place) => heightOf(drawing, place) === null);
    if (unknown !== undefined) return `"${nameOf(unknown)}" is not in the drawing of docs/ARCHITECTURE.md.`;
    return isBelow(drawing, imported, importer)
      ? null
      : `"${nameOf(importer)}" must not import "${nameOf(imported)}", because that is not below it in the drawing.`;
  });
}

/**
 * Finds modules that are missing in the diagram of docs/ARCHITECTURE.md, and modules in the diagram that do not exist.
 */
export function notAsDrawn(files: SourceFile[], drawing: Drawing): string[] {
  const there = new Set(files.map(({ path }) => nameOf(placeOf(path))));
  const drawn = new Set([...drawing.rooms].flatMap(([wing, ranks]) => ranks.flat().map((room) => `${wing}/${room}`)));
  return [
    ...[...there.difference(drawn)].map((place) => `${place} is not in the drawing of docs/ARCHITECTURE.md`),
    ...[...drawn.difference(there)].map((place) => `${place} is drawn in docs/ARCHITECTURE.md, but does not exist`),
  ];
}

/**
 * Finds folders of `src/` whose imports in the code differ from the column "imports now" in the table of
 * docs/ARCHITECTURE.md.
 */
export function importsNotAsInTable(files: SourceFile[], markdown: string): string[] {
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
      : [`The table of wings in docs/ARCHITECTURE.md must list these imports of ${wing}/: ${list || '–'}`];
  });
}

/**
 * Finds imports from another module that do not use the front file of that module. The front file has the name of its module. Because of
 * this rule, a change in any file of a module except its front file does not affect other modules.
 */
export function frontFilesOnly(files: SourceFile[]): string[] {
  return check(files, ({ from, to }) => {
    const importer = placeOf(from.path);
    const imported = placeOf(to);
    if (nameOf(importer) === nameOf(imported) || TECHNICAL.has(nameOf(imported))) return null;
    const folder = `src/${nameOf(imported)}`;
    if (to === `${folder}.ts` || to === `${folder}/${imported.room}.ts`) return null;
    if (COMPOSITION_ROOTS.has(importer.wing) && !STORE.test(to)) return null;
    return `Import the front file of the other room (${folder}/${imported.room}.ts) instead of ${to}.`;
  });
}

/**
 * Finds imports inside a folder of `src/` that are not relative, and imports from another folder of `src/` that do not
 * use its alias.
 */
export function pathsOfImports(files: SourceFile[]): string[] {
  return check(files, ({ from, specifier, to }) => {
    if (/^\.\.\/\.\.\/(?!lib\/)/.test(specifier)) {
      return `An import may go up at most one folder, except to lib: ${specifier}`;
    }
    const isInside = placeOf(from.path).wing === placeOf(to).wing;
    if (isInside === specifier.startsWith('.')) return null;
    return isInside
      ? `Inside a wing, use a relative import: ${specifier}`
      : `Import another wing by its alias: ${specifier}`;
  });
}

function check(files: SourceFile[], fault: (found: Import) => string | null): string[] {
  return files.flatMap(importsOf).flatMap((found) => {
    const message = fault(found);
    return message === null ? [] : [offence(found.from.path, found.from.text, found.index, message)];
  });
}

/** Returns the imports in a file that lead to other files of the repository, by a relative path or an alias. */
function importsOf(from: SourceFile): Import[] {
  return [...from.uncommented.matchAll(IMPORT)].flatMap((match) => {
    const specifier = match[1] ?? match[2] ?? '';
    if (specifier.startsWith('.')) {
      return [{ from, index: match.index, specifier, to: posix.join(posix.dirname(from.path), specifier) }];
    }
    return specifier.startsWith('#') ? [{ from, index: match.index, specifier, to: `src/${specifier.slice(1)}` }] : [];
  });
}
