import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { DOCUMENTS, documentPath } from './api-documents.ts';
import { type RenderedMarkdown, renderMarkdown } from './markdown.ts';

const FOLDER = join(PACKAGE_ROOT, 'docs/guides');

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

export async function readPicture(name: string): Promise<Buffer> {
  return await readFile(join(FOLDER, 'console', `${name}.png`));
}

export async function readGuideSource(name: GuideName): Promise<Buffer> {
  return await readFile(join(FOLDER, `${name}.md`));
}

export async function readGuide(name: GuideName): Promise<Guide> {
  const source = await readGuideSource(name);
  return { name, ...(await renderMarkdown(String(source), resolveGuideLink)) };
}

/** Guides link to the files of other guides, so that the links also work for a person who reads the files without the site. */
export function resolveGuideLink(href: string): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) {
    return href;
  }
  const [path = '', fragment] = href.split('#', 2);
  const address = addressOf(path);
  return address === null || fragment === undefined ? address : `${address}#${fragment}`;
}

function addressOf(path: string): string | null {
  const guide = GUIDE_NAMES.find((name) => path === `${name}.md`);
  if (guide !== undefined) {
    return guidePath(guide);
  }
  const picture = PICTURE_NAMES.find((name) => path === `console/${name}.png`);
  if (picture !== undefined) {
    return picturePath(picture);
  }
  const document = DOCUMENTS.find(({ name }) => path === `../../contract/${name}.json`);
  if (document !== undefined) {
    return documentPath(document.name);
  }
  if (!path.startsWith('../')) {
    throw new Error(`A guide links to ${path}, which is not a guide. Link to a file that GUIDE_NAMES lists.`);
  }
  return null;
}
