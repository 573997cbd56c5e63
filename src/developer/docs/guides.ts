import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { DOCUMENTS, documentPath } from './api-documents.ts';
import { type RenderedMarkdown, renderMarkdown } from './markdown.ts';

/** Names of the guides, in reading order. The site shows only these files. */
export const GUIDE_NAMES = [
  'quick-start',
  'console',
  'authentication',
  'orders',
  'hotel',
  'webhooks',
  'sdk',
  'tools',
  'sandbox',
  'pms',
  'staff',
  'errors',
  'limits',
  'going-live',
  'versioning',
  'changelog',
] as const;

/** Pictures of the guide of the console, which `npm run pictures` makes. */
export const PICTURE_NAMES = [
  'today',
  'board',
  'kitchen',
  'stays',
  'calendar',
  'menu',
  'partner',
  'deliveries',
  'phone',
] as const;

type GuideName = (typeof GUIDE_NAMES)[number];

export interface Guide extends RenderedMarkdown {
  name: GuideName;
}

export const guidePath = (name: GuideName) => `/docs/guides/${name}/`;
export const guideSourcePath = (name: GuideName) => `/docs/guides/${name}.md`;
export const picturePath = (name: string) => `/docs/guides/console/${name}.png`;

export async function readGuide(name: GuideName): Promise<Guide> {
  const source = await readFile(join(PACKAGE_ROOT, `docs/guides/${name}.md`), 'utf8');
  return { name, ...(await renderMarkdown(source, resolveGuideLink)) };
}

/** Addresses on the site of the files to which a guide may link. */
const ADDRESSES = new Map<string, string>([
  ...GUIDE_NAMES.map((name) => [`${name}.md`, guidePath(name)] as const),
  ...PICTURE_NAMES.map((name) => [`console/${name}.png`, picturePath(name)] as const),
  ...DOCUMENTS.map(({ name }) => [`../../contract/${name}.json`, documentPath(name)] as const),
]);

/** Guides link to the files of other guides, so that the links also work for a person who reads the files without the site. */
export function resolveGuideLink(href: string): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) {
    return href;
  }
  const [path = '', fragment] = href.split('#', 2);
  const address = ADDRESSES.get(path);
  if (address !== undefined) {
    return fragment === undefined ? address : `${address}#${fragment}`;
  }
  if (!path.startsWith('../')) {
    throw new Error(`A guide links to ${path}, which is not a guide. Link to a file that GUIDE_NAMES lists.`);
  }
  return null;
}
