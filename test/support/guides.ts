import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../docs/guides');

/** A fenced block of code. `info` is what stands behind its opening fence. */
export interface Block {
  info: string;
  code: string;
  line: number;
}

export interface Guide {
  name: string;
  text: string;
  blocks: Block[];
  /** What a link to one of its headings ends with. */
  anchors: Set<string>;
  /** The addresses of its links. */
  links: string[];
}

/** The guides, by file name. */
export function readGuides(): Guide[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
  return names.map((name) => parseGuide(name, readFileSync(join(FOLDER, name), 'utf8')));
}

export function parseGuide(name: string, text: string): Guide {
  const blocks = [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(({ 1: info = '', 2: code = '', index }) => ({
    info,
    code,
    line: text.slice(0, index).split('\n').length,
  }));
  const prose = text.replaceAll(/^```.*?^```$/gms, '');
  const titles = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, address = '']) => address);
  return { name, text, blocks, anchors: new Set(titles.map(anchorOf)), links };
}

/** By the rule of common code hosts. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Texts of these forms need only be of the same form. */
const KINDS = [
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
];
/** Stands in a guide for what it leaves out: a value, the rest of a text, of a list, or the other fields. */
const LEFT_OUT = '…';

/** Where an answer is not as a guide shows it, each as `path: what`. */
export function differences(shown: unknown, actual: unknown, path = 'answer'): string[] {
  if (shown === LEFT_OUT) return [];
  if (Array.isArray(shown) && Array.isArray(actual)) return listDifferences(shown, actual, path);
  if (isRecord(shown) && isRecord(actual)) return fieldDifferences(shown, actual, path);
  const isAsShown =
    typeof shown === 'string' && typeof actual === 'string' ? isTextAsShown(shown, actual) : Object.is(shown, actual);
  return isAsShown ? [] : [`${path}: shown as ${JSON.stringify(shown)}, and is ${JSON.stringify(actual)}`];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listDifferences(shown: unknown[], actual: unknown[], path: string): string[] {
  const isOpen = shown.at(-1) === LEFT_OUT;
  const entries = isOpen ? shown.slice(0, -1) : shown;
  if (isOpen ? actual.length < entries.length : actual.length !== entries.length) {
    return [`${path}: shown with ${entries.length} entries, and has ${actual.length}`];
  }
  return entries.flatMap((entry, index) => differences(entry, actual[index], `${path}.${index}`));
}

function fieldDifferences(shown: Record<string, unknown>, actual: Record<string, unknown>, path: string): string[] {
  const { [LEFT_OUT]: rest, ...fields } = shown;
  const unshown = rest === undefined ? Object.keys(actual).filter((name) => !(name in fields)) : [];
  return [
    ...unshown.map((name) => `${path}.${name}: not shown`),
    ...Object.entries(fields).flatMap(([name, value]) =>
      name in actual ? differences(value, actual[name], `${path}.${name}`) : [`${path}.${name}: shown, and not there`],
    ),
  ];
}

function isTextAsShown(shown: string, actual: string): boolean {
  const [start = '', end] = shown.split(LEFT_OUT);
  if (end !== undefined) return actual.length > start.length && actual.startsWith(start) && actual.endsWith(end);
  return shown === actual || KINDS.some((kind) => kind.test(shown) && kind.test(actual));
}
