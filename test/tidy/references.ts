import { posix } from 'node:path';

/**
 * A page of `docs/guarantees/` with numbered entries. `heading` matches the heading of an entry. `reference` matches a text that refers to an
 * entry, for example `contract §4`.
 */
interface NumberedPage {
  path: string;
  heading: RegExp;
  reference: RegExp;
}

const NUMBERS = String.raw`(\d+(?:(?:, | and | to )\d+)*)`;

const NUMBERED_PAGES: NumberedPage[] = [
  { path: 'docs/guarantees/third-party.md', heading: /^## (\d+)\. /gm, reference: /(?<!PMS )\bcontract,? §(\d+)/gi },
  { path: 'docs/guarantees/pms.md', heading: /^## (\d+)\. /gm, reference: /\bPMS contract,? §(\d+)/gi },
  {
    path: 'docs/guarantees/rules.md',
    heading: /^### (\d+)\. /gm,
    reference: new RegExp(`(?<!\\b(?:database|delivery) )\\brules? ${NUMBERS}`, 'gi'),
  },
  {
    path: 'docs/guarantees/database-rules.md',
    heading: /^### (\d+)\. /gm,
    reference: new RegExp(`\\bdatabase rules? ${NUMBERS}`, 'gi'),
  },
];

/**
 * Finds references to a contract section, a rule or a database rule whose number does not exist. Reads the existing numbers from the
 * headings of the pages in `NUMBERED_PAGES`.
 * @param textOf returns the text of a page
 */
export function unresolvedReferences(path: string, text: string, textOf: (page: string) => string): string[] {
  // A comment may break a reference at the end of a line. So the lines are joined first.
  const joined = text.replaceAll(/\s*\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
  return NUMBERED_PAGES.flatMap(({ path: page, heading, reference }) => {
    const entries = new Set(Array.from(textOf(page).matchAll(heading), ([, number]) => number));
    return Array.from(joined.matchAll(reference), ([, numbers]) => numbers?.match(/\d+/g) ?? [])
      .flat()
      .filter((number) => !entries.has(number))
      .map((number) => `${path} refers to entry ${number} of ${page}, which does not exist`);
  });
}

/**
 * Pattern of a path in backquotes with at least one folder, such as `hotel/rates/`. Paths with wildcards or with placeholders in capitals
 * are not checked.
 */
const NAMED_PATH = /`((?:[\w.-]+\/)+(?:[\w.-]+\.(?:ts|js|md|sql|json))?)`/g;

/**
 * Finds paths that a text names but that do not exist. A path may be relative to the repository, `src/`, a folder of `src/`, `test/` or
 * `docs/`.
 * @param exists returns true if the repository has the given path. The given path of a folder has no slash at its end
 */
export function unresolvedPaths(
  path: string,
  text: string,
  wings: string[],
  exists: (path: string) => boolean,
): string[] {
  const roots = ['', 'src/', ...wings.map((wing) => `src/${wing}/`), 'test/', 'docs/'];
  return [...text.matchAll(NAMED_PATH)]
    .map(([, named = '']) => named)
    .filter((named) => !/[A-Z]{4,}/.test(named) && !roots.some((root) => exists(`${root}${named}`.replace(/\/$/, ''))))
    .map((named) => `${path} names ${named}, which does not exist`);
}

/** Pattern of a link of Markdown to a file of the repository or to a heading, without its title and without links to other hosts. */
const LINK = /\]\((?!https?:|mailto:|\/)([^)#\s]*)(?:#([^)\s]+))?\)/g;
/** Pattern of a page that code names, for example in a comment. */
const NAMED_PAGE = /\bdocs\/[\w/-]+\.md\b/g;

/**
 * Finds links of a Markdown page to files or headings that do not exist.
 * @param textOf returns the text of a file, or null if there is no such file or folder
 */
export function brokenLinks(path: string, text: string, textOf: (path: string) => string | null): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$|`[^`\n]*`|<!--[^]*?-->/gm, '');
  return [...prose.matchAll(LINK)].flatMap(([, target = '', anchor]) => {
    const page = target === '' ? path : posix.join(posix.dirname(path), target);
    const there = target === '' ? text : textOf(page.replace(/\/$/, ''));
    if (there === null) return [`${path} links to ${target}, which does not exist`];
    if (anchor === undefined || anchorsOf(there).has(anchor)) return [];
    return [`${path} links to ${target}#${anchor}, and the page has no such heading`];
  });
}

/** Finds pages of `docs/` that a source file names but that do not exist. */
export function unknownPages(path: string, text: string, exists: (path: string) => boolean): string[] {
  return Array.from(text.matchAll(NAMED_PAGE), ([page]) => page)
    .filter((page) => !exists(page))
    .map((page) => `${path} names ${page}, which does not exist`);
}

/** Returns the anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    Array.from(headings, ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}
