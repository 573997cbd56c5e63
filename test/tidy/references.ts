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
