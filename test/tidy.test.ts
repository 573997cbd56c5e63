import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { barrels, machinePaths, outboundHttp, skippedTests, sqlOutsideStores, disabledRules } from './tidy/bans.ts';
import { nameOf, placeOf, readDrawing } from './tidy/drawing.ts';
import { frontFilesOnly, importDirection, importsNotAsInTable, notAsDrawn, pathsOfImports } from './tidy/imports.ts';
import {
  contractions,
  keysWithoutTenant,
  migrationNames,
  notDistributable,
  notSplittable,
  unusedExceptions,
} from './tidy/migrations.ts';
import { decisionNotes } from './tidy/records.ts';
import { brokenLinks, unknownPages, unresolvedPaths, unresolvedReferences } from './tidy/references.ts';
import { isTest, listFiles, readSources, readText, type SourceFile } from './tidy/source.ts';
import { tablesReadFromAbove, tablesWithTwoWriters } from './tidy/tables.ts';

const source = [...readSources('src'), ...readSources('scripts/openapi')];
const program = source.filter((file) => !isTest(file.path));
const tests = [...source.filter((file) => isTest(file.path)), ...readSources('test')];
const map = readText('docs/ARCHITECTURE.md');
const drawing = readDrawing(map);
const migrations = listFiles('migrations').map((path): [string, string] => [path, readText(path)]);

/** Fails if the list of offences is not empty. The error message then has one line for each offence. */
function assertNone(offences: string[]): void {
  assert.ok(offences.length === 0, `\n${offences.join('\n')}\n`);
}

/** Returns the front file of a module, or the file with which a module without one begins. */
function mainFile(room: string, files: SourceFile[]): SourceFile | undefined {
  const names = [`${room}.ts`, 'routes.ts', 'staff-routes.ts', 'main.ts', 'app.ts', 'database.ts'];
  return names.flatMap((name) => files.find(({ path }) => path.endsWith(`/${name}`)) ?? []).at(0);
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

describe('structure of the source code', () => {
  test('the diagram in ARCHITECTURE.md shows every module of src/ and scripts/openapi/', () =>
    assertNone(notAsDrawn(program, drawing)));
  test('a module imports only modules that are below it in the diagram of ARCHITECTURE.md', () =>
    assertNone(importDirection(program, drawing)));
  test('the table in ARCHITECTURE.md lists the imports of each folder of src/', () =>
    assertNone(importsNotAsInTable(program, map)));
  test('a module imports only the front file of another module (the file with its name)', () =>
    assertNone(frontFilesOnly(program)));
  test('imports inside a folder of src/ are relative, and imports from another folder of src/ use its alias', () =>
    assertNone(pathsOfImports(program)));
  test('no file is a barrel that only re-exports: there is no index.ts and no `export *`', () =>
    assertNone(barrels(source)));
});

describe('bans on the source code', () => {
  test('only store files (store.ts, *-store.ts) and platform/db/ contain SQL', () =>
    assertNone(sqlOutsideStores(program)));
  test('each table is written by only one module', () => assertNone(tablesWithTwoWriters(program)));
  test('a table is read only by the module that writes it and by modules above it in the diagram of ARCHITECTURE.md', () =>
    assertNone(tablesReadFromAbove(program, drawing)));
  test('only the webhook sender and the client of `roomservice listen` make HTTP requests', () =>
    assertNone(outboundHttp(program)));
  test('no test is marked `only`, and no test is skipped or marked `todo` without a reason', () =>
    assertNone(skippedTests(tests)));
  test('no comment disables a lint rule without a reason', () => assertNone(disabledRules([...source, ...tests])));
  test('no file contains an absolute path that exists only on one machine', () => {
    assertNone(listFiles().flatMap((path) => machinePaths(path, readText(path))));
  });
});

describe('references in the repository', () => {
  test('each reference to the contract, to a rule or to a database rule leads to an existing entry', () => {
    const texts = listFiles().filter((path) => /\.(?:ts|js|sql|md)$/.test(path));
    assertNone(texts.flatMap((path) => unresolvedReferences(path, readText(path), readText)));
  });
  test('each relative link of a page leads to a file and a heading that exist', () => {
    const files = listFiles();
    const folders = new Set(files.flatMap(foldersOf));
    const textOf = (path: string) => (folders.has(path) ? '' : files.includes(path) ? readText(path) : null);
    const pages = files.filter((path) => path.endsWith('.md'));
    assertNone(pages.flatMap((path) => brokenLinks(path, readText(path), textOf)));
  });
  test('each page of docs/ that a source file names exists', () => {
    const files = new Set(listFiles());
    const texts = [...files].filter((path) => /(?<!\.test)\.(?:ts|js|sql|service|yaml)$|Containerfile$/.test(path));
    assertNone(texts.flatMap((path) => unknownPages(path, readText(path), (page) => files.has(page))));
  });
});

describe('paths and modules that the documentation names', () => {
  test('README.md, CONTRIBUTING.md, the pages beside ARCHITECTURE.md and the notes on decisions name only files and folders that exist', () => {
    const wings = drawing.floors.flat();
    const paths = new Set(listFiles().flatMap((path) => [path, ...foldersOf(path)]));
    const pages = listFiles().filter((path) =>
      /^(?:README|CONTRIBUTING|docs\/[A-Za-z]+|docs\/decisions\/.*)\.md$/.test(path),
    );
    assertNone(pages.flatMap((path) => unresolvedPaths(path, readText(path), wings, (named) => paths.has(named))));
  });
  test('the first line of the main file of each module says what the module is for', () => {
    const rooms = Map.groupBy(program, ({ path }) => nameOf(placeOf(path)));
    assertNone(
      [...rooms].flatMap(([name, files]) => {
        const room = name.split('/').at(-1) ?? '';
        const main = mainFile(room, files);
        return room === 'lib' || main?.text.startsWith('/** ')
          ? []
          : [`${main?.path ?? name} does not begin with a comment`];
      }),
    );
  });
});

test('the newest section of CHANGELOG.md is for the version in package.json', () => {
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  const [, newest] =
    /^## (\d+\.\d+\.\d+) \((?:\d{4}-\d{2}-\d{2}|not released yet)\)$/m.exec(readText('CHANGELOG.md')) ?? [];
  assert.equal(newest, version);
});

test('the notes in docs/decisions/ have numbers of their own, fit on a page, and have a row in the index', () => {
  const index = 'docs/decisions/README.md';
  const notes = listFiles('docs/decisions').filter((path) => path !== index);
  assertNone(
    decisionNotes(
      notes.sort().map((path) => [path, readText(path)]),
      readText(index),
    ),
  );
});

describe('migrations', () => {
  test('the numbers of the migrations have no gaps', () =>
    assertNone(migrationNames(migrations.map(([path]) => path))));
  test('every key and index in the migrations begins with the column tenant_id', () => {
    assertNone(migrations.flatMap(([path, text]) => keysWithoutTenant(path, text)));
  });
  test('the migrations use only SQL that a database cluster supports', () => {
    assertNone(migrations.flatMap(([path, text]) => notDistributable(path, text)));
  });
  test('the migrator can split each migration into its statements', () => {
    assertNone(migrations.flatMap(([path, text]) => notSplittable(path, text)));
  });
  test('a migration drops, renames or restricts nothing', () => {
    assertNone(migrations.flatMap(([path, text]) => contractions(path, text)));
  });
  test('CHANGELOG.md has a table row for each migration after the first, with the steps of the operator', () => {
    const text = readText('CHANGELOG.md');
    const names = migrations.map(([path]) => path.replace(/^migrations\/|\.sql$/g, '')).filter((name) => name > '0002');
    assertNone(names.filter((name) => !new RegExp(`^\\| \`${name}\` \\| .+ \\| .+ \\|$`, 'm').test(text)));
  });
  test('each exception in test/tidy/migrations.ts names a table or index that a migration creates', () => {
    assertNone(unusedExceptions(migrations.map(([, text]) => text).join('\n')));
  });
});
