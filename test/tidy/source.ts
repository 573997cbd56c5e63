import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blankComments, blankCommentsAndLiterals } from './blank.ts';

/** A file under check, with the views that the rules search. All views have the same length and the same lines. */
export interface SourceFile {
  /** Relative to the repository, with `/` between folders. */
  path: string;
  text: string;
  /** Comments are blank, strings are not: for imports and SQL. */
  uncommented: string;
  /** Comments and the insides of strings, templates and regular expressions are blank: for words of the language. */
  code: string;
}

const REPOSITORY = join(import.meta.dirname, '..', '..');
/** Not ours, or written at run time; `.git` is a file in a second work tree. */
const SKIPPED = new Set(['node_modules', '.git', 'data', 'coverage']);

/** The paths of all files below the repository, or below one folder of it. */
export function listFiles(folder = ''): string[] {
  const entries = readdirSync(join(REPOSITORY, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.has(path)) return [];
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, uncommented: blankComments(text), code: blankCommentsAndLiterals(text) };
}

export function readSources(folder: string): SourceFile[] {
  return listFiles(folder)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => sourceFile(path, readText(path)));
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}

/** `file:line: message`, as an editor can follow it. */
export function offence(path: string, text: string, index: number, message: string): string {
  return `${path}:${text.slice(0, index).split('\n').length}: ${message}`;
}

/** One offence for every match of a global pattern in one view of a file. */
export function offencesOf(file: SourceFile, view: string, pattern: RegExp, message: string): string[] {
  return [...view.matchAll(pattern)].map((match) => offence(file.path, view, match.index, message));
}
