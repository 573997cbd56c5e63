import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../docs/guides');

/** A fenced code block. `info` is the text after the opening fence, which is on `line`. */
export interface Block {
  info: string;
  code: string;
  line: number;
}

export interface Guide {
  name: string;
  text: string;
  blocks: Block[];
  /** Anchors of the headings. An anchor is the part after `#` in a link to a heading. */
  anchors: Set<string>;
  links: string[];
}

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

/** Returns the anchor of a heading, by the rule that GitHub and similar sites use. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Formats of values that differ in each run. Two values of the same format count as equal. */
const CHANGING_FORMATS = [
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
];
/** What a guide writes in place of a value, a part of a text, the rest of a list, or the other fields. */
const LEFT_OUT = '…';

/** @returns each difference as `path: description` */
export function differences(shown: unknown, actual: unknown, path = 'answer'): string[] {
  if (shown === LEFT_OUT) return [];
  if (Array.isArray(shown) && Array.isArray(actual)) return listDifferences(shown, actual, path);
  if (isRecord(shown) && isRecord(actual)) return fieldDifferences(shown, actual, path);
  const isAsShown =
    typeof shown === 'string' && typeof actual === 'string' ? isTextAsShown(shown, actual) : Object.is(shown, actual);
  return isAsShown
    ? []
    : [`${path}: the guide shows ${JSON.stringify(shown)}, but the value is ${JSON.stringify(actual)}`];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listDifferences(shown: unknown[], actual: unknown[], path: string): string[] {
  const isOpen = shown.at(-1) === LEFT_OUT;
  const entries = isOpen ? shown.slice(0, -1) : shown;
  if (isOpen ? actual.length < entries.length : actual.length !== entries.length) {
    return [`${path}: the guide shows ${entries.length} entries, but the list has ${actual.length}`];
  }
  return entries.flatMap((entry, index) => differences(entry, actual[index], `${path}.${index}`));
}

function fieldDifferences(shown: Record<string, unknown>, actual: Record<string, unknown>, path: string): string[] {
  const { [LEFT_OUT]: rest, ...fields } = shown;
  const unshown = rest === undefined ? Object.keys(actual).filter((name) => !(name in fields)) : [];
  return [
    ...unshown.map((name) => `${path}.${name}: the guide does not show this field`),
    ...Object.entries(fields).flatMap(([name, value]) =>
      name in actual
        ? differences(value, actual[name], `${path}.${name}`)
        : [`${path}.${name}: the guide shows this field, but it is missing`],
    ),
  ];
}

function isTextAsShown(shown: string, actual: string): boolean {
  const [start = '', end] = shown.split(LEFT_OUT);
  if (end !== undefined) return actual.length > start.length && actual.startsWith(start) && actual.endsWith(end);
  return shown === actual || CHANGING_FORMATS.some((format) => format.test(shown) && format.test(actual));
}
