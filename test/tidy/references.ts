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

export const NUMBERED_PAGES: NumberedPage[] = [
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
