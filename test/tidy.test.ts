import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  barrels,
  machinePaths,
  outboundHttp,
  silencedTests,
  sqlOutsideStores,
  unexplainedSilence,
} from './tidy/bans.ts';
import { nameOf, placeOf, readDrawing } from './tidy/drawing.ts';
import { frontFilesOnly, importDirection, importsNotAsTold, notAsDrawn, pathsOfImports } from './tidy/imports.ts';
import { lint } from './tidy/lint.ts';
import { keysWithoutTenant, migrationNames, notDistributable, unusedExceptions } from './tidy/migrations.ts';
import { decisionRecords } from './tidy/records.ts';
import { unresolvedPaths, unresolvedReferences } from './tidy/references.ts';
import { isTest, listFiles, readSources, readText } from './tidy/source.ts';
import { tablesReadFromAbove, tablesWithTwoWriters } from './tidy/tables.ts';

const source = [...readSources('src'), ...readSources('tools')];
const program = source.filter((file) => !isTest(file.path));
const tests = [...source.filter((file) => isTest(file.path)), ...readSources('test')];
const map = readText('docs/ARCHITECTURE.md');
const drawing = readDrawing(map);
const migrations = listFiles('migrations').map((path): [string, string] => [path, readText(path)]);

/** An empty list, or each offence on a line of its own. */
function none(offences: string[]): void {
  assert.ok(offences.length === 0, `\n${offences.join('\n')}\n`);
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

describe('structure', () => {
  test('the drawing shows every wing and room', () => none(notAsDrawn(program, drawing)));
  test('imports go down in the drawing only', () => none(importDirection(program, drawing)));
  test('the table of wings tells what each imports', () => none(importsNotAsTold(program, map)));
  test('across rooms only front files are imported', () => none(frontFilesOnly(program)));
  test('inside a wing imports are relative, across wings they go by its alias', () => none(pathsOfImports(program)));
  test('there are no barrels', () => none(barrels(source)));
});

describe('bans', () => {
  test('SQL stands in stores and in db/ alone', () => none(sqlOutsideStores(program)));
  test('a table is written by one room alone', () => none(tablesWithTwoWriters(program)));
  test('a table is read in its own room and above only', () => none(tablesReadFromAbove(program, drawing)));
  test('HTTP leaves through the sender of webhooks alone', () => none(outboundHttp(program)));
  test('no test is silenced without a reason', () => none(silencedTests(tests)));
  test('no rule is silenced without a reason', () => none(unexplainedSilence([...source, ...tests])));
  test('no path of one machine is written down', () => {
    none(listFiles().flatMap((path) => machinePaths(path, readText(path))));
  });
  // any, console, process.env, cycles, the lengths of files and functions: .oxlintrc.json.
  test('the linter finds nothing', () => none(lint(join(import.meta.dirname, '..'))));
});

describe('references', () => {
  test('to the contract, its decisions and the database rules resolve', () => {
    const texts = listFiles().filter((path) => /\.(?:ts|js|sql|md)$/.test(path));
    none(texts.flatMap((path) => unresolvedReferences(path, readText(path), readText)));
  });
});

describe('the map', () => {
  test('names files and folders that exist', () => {
    const wings = drawing.floors.flat();
    const paths = new Set(listFiles().flatMap((path) => [path, ...foldersOf(path)]));
    none(
      ['docs/ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md'].flatMap((path) =>
        unresolvedPaths(path, readText(path), wings, (named) => paths.has(named)),
      ),
    );
  });
  test('has a row for each room', () => {
    const rooms = new Set(program.map(({ path }) => nameOf(placeOf(path))));
    none([...rooms].filter((room) => !map.includes(`\`${room}`)));
  });
});

test('the newest section of the changelog is of the version in package.json', () => {
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  const [, newest] = /^## (\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$/m.exec(readText('CHANGELOG.md')) ?? [];
  assert.equal(newest, version);
});

describe('decisions', () => {
  test('have a number, a status and a row in the index', () => {
    const index = 'docs/decisions/README.md';
    const notes = listFiles('docs/decisions').filter((path) => path !== index);
    none(
      decisionRecords(
        notes.sort().map((path) => [path, readText(path)]),
        readText(index),
      ),
    );
  });
});

describe('migrations', () => {
  test('are numbered without gaps', () => none(migrationNames(migrations.map(([path]) => path))));
  test('lead every key and index with the tenant', () => {
    none(migrations.flatMap(([path, text]) => keysWithoutTenant(path, text)));
  });
  test('use nothing that a cluster lacks', () => {
    none(migrations.flatMap(([path, text]) => notDistributable(path, text)));
  });
  test('need every exception that is granted to them', () => {
    none(unusedExceptions(migrations.map(([, text]) => text).join('\n')));
  });
});
