import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blankComments, blankCommentsAndLiterals } from './blank.ts';

/**
 * A source file to check. The fields `text`, `uncommented` and `code` have the same length and the same lines. So a position in one of them
 * is the same in the others.
 */
export interface SourceFile {
  /** Path relative to the repository, with `/` between folders. */
  path: string;
  text: string;
  /** Text with spaces in place of its comments. Rules on imports and SQL search this version. */
  uncommented: string;
  /**
   * Text with spaces in place of comments and of the contents of strings, templates and regular expressions. Rules on
   * language keywords search this version.
   */
  code: string;
}

const REPOSITORY = join(import.meta.dirname, '..', '..');
/**
 * Paths that are not part of the sources: Git data, and files that the service or the tests write. `dist` is one of them, because
 * test/package.system.test.ts runs `npm pack`. It removes and writes the files of `dist` while other tests list and read the files.
 */
const SKIPPED = new Set(['.git', 'data', 'coverage', 'dist']);
/** End of the name of a bundle in `libraries` that `npm pack` is still writing. The file soon gets another name. */
const INCOMPLETE = '.js.new';

/** Returns the paths of all files in the repository, or in one folder of it and its subfolders. */
export function listFiles(folder = ''): string[] {
  const entries = readdirSync(join(REPOSITORY, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.has(path) || entry.name === 'node_modules' || entry.name.endsWith(INCOMPLETE)) return [];
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

/** Returns an offence as `file:line: message`, because editors can turn this form into a link. */
export function offence(path: string, text: string, index: number, message: string): string {
  return `${path}:${text.slice(0, index).split('\n').length}: ${message}`;
}

/**
 * Returns one offence for each match of the pattern, which must have the flag `g`. `view` is the field `text`, `uncommented` or `code` of
 * the file.
 */
export function offencesOf(file: SourceFile, view: string, pattern: RegExp, message: string): string[] {
  return [...view.matchAll(pattern)].map((match) => offence(file.path, view, match.index, message));
}
