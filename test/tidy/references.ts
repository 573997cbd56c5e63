/** A numbered page of `docs/contract/`, and how a text refers to one of its entries. */
interface NumberedPage {
  path: string;
  heading: RegExp;
  reference: RegExp;
}

const NUMBERS = String.raw`(\d+(?:(?:, | and | to )\d+)*)`;

export const NUMBERED_PAGES: NumberedPage[] = [
  { path: 'docs/contract/third-party.md', heading: /^## (\d+)\. /gm, reference: /(?<!PMS )\bcontract,? §(\d+)/gi },
  { path: 'docs/contract/pms.md', heading: /^## (\d+)\. /gm, reference: /\bPMS contract,? §(\d+)/gi },
  {
    path: 'docs/contract/decisions.md',
    heading: /^### (\d+)\. /gm,
    reference: new RegExp(`\\bdecisions? ${NUMBERS}`, 'gi'),
  },
  {
    path: 'docs/contract/database-rules.md',
    heading: /^### (\d+)\. /gm,
    reference: new RegExp(`\\bdatabase rules? ${NUMBERS}`, 'gi'),
  },
];

/**
 * References to numbered entries that do not exist.
 * @param textOf gives the text of a page
 */
export function unresolvedReferences(path: string, text: string, textOf: (page: string) => string): string[] {
  // A reference may go on in the next line of a comment.
  const joined = text.replaceAll(/\s*\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
  return NUMBERED_PAGES.flatMap(({ path: page, heading, reference }) => {
    const entries = new Set(Array.from(textOf(page).matchAll(heading), ([, number]) => number));
    return Array.from(joined.matchAll(reference), ([, numbers]) => numbers?.match(/\d+/g) ?? [])
      .flat()
      .filter((number) => !entries.has(number))
      .map((number) => `${path} refers to entry ${number} of ${page}, which does not exist`);
  });
}

/** A file or folder in backquotes, such as `hotel/rates/` or `store.ts`; placeholders in capitals and patterns are none. */
const NAMED_PATH = /`((?:[\w.-]+\/)+(?:[\w.-]+\.(?:ts|js|md|sql|json))?)`/g;

/**
 * Paths that a text names and that do not exist: seen from the repository, from `src/`, or from a wing of it.
 * @param exists tells of a path of the repository, a folder's without the slash at its end
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
