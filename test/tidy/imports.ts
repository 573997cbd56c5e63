import { posix } from 'node:path';
import { offence, unitOf } from './source.ts';
import type { SourceFile } from './source.ts';

/** Imports go down only: a unit may import those of the lines above its own, and itself. */
const LAYERS = [
  ['errors', 'lib'],
  ['config', 'db'],
  ['keys', 'changes'],
  ['http'],
  ['audit'],
  ['tenants'],
  ['credentials'],
  ['webhooks', 'menu', 'rooms'],
  ['rates'],
  ['nights'],
  ['orders', 'reservations'],
  ['channels', 'pms', 'tenant-document', 'sandbox', 'docs'],
  ['app', 'worker', 'listen'],
  ['openapi', 'cli'],
];
/** Folders of plain tools: any file of theirs may be imported. */
const TECHNICAL = new Set(['db', 'http', 'lib']);
/** They write the wiring out, so they may name every part of a folder but its SQL. */
const COMPOSITION_ROOTS = new Set(['app', 'worker', 'openapi', 'cli']);
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
    const importer = unitOf(from.path);
    const imported = unitOf(to);
    if (importer === imported) return null;
    const unknown = [importer, imported].find((unit) => layerOf(unit) < 0);
    if (unknown !== undefined) return `"${unknown}" has no place in the order of layers (test/tidy/imports.ts)`;
    if (layerOf(imported) < layerOf(importer)) return null;
    return `imports go down only: "${importer}" must not import "${imported}"`;
  });
}

export function frontFilesOnly(files: SourceFile[]): string[] {
  return check(files, ({ from, to }) => {
    const importer = unitOf(from.path);
    const imported = unitOf(to);
    if (importer === imported || TECHNICAL.has(imported)) return null;
    if (to === `src/${imported}.ts` || to === `src/${imported}/${imported}.ts`) return null;
    if (COMPOSITION_ROOTS.has(importer) && !STORE.test(to)) return null;
    return `across folders only the front file is imported (src/${imported}/${imported}.ts), not ${to}`;
  });
}

export function oneHop(files: SourceFile[]): string[] {
  return check(files, ({ specifier }) =>
    specifier.startsWith('../../') ? `an import goes up one folder at most: ${specifier}` : null,
  );
}

function layerOf(unit: string): number {
  return LAYERS.findIndex((layer) => layer.includes(unit));
}

function check(files: SourceFile[], fault: (found: Import) => string | null): string[] {
  return files.flatMap(relativeImports).flatMap((found) => {
    const message = fault(found);
    return message === null ? [] : [offence(found.from.path, found.from.text, found.index, message)];
  });
}

function relativeImports(from: SourceFile): Import[] {
  return [...from.uncommented.matchAll(IMPORT)].flatMap((match) => {
    const specifier = match[1] ?? match[2] ?? '';
    if (!specifier.startsWith('.')) return [];
    const to = posix.join(posix.dirname(from.path), specifier);
    return [{ from, index: match.index, specifier, to }];
  });
}
