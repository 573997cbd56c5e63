import { escapeHtml } from './markdown.ts';
import { type Guide, guidePath, guideSourcePath } from './guides.ts';
import { documentPath, DOCUMENTS } from './api-documents.ts';

interface PageParts {
  title: string;
  description: string;
  section: 'reference' | 'guides' | null;
  head: string;
  /** HTML below the header of the site. It contains the element with the id `content`, which has the main content. */
  body: string;
}

/** All links begin with a slash, so that they work with and without a slash at the end of the page's URL. */
function htmlPage({ title, description, section, head, body }: PageParts): string {
  const current = (name: string) => (name === section ? ' aria-current="true"' : '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/site.css">
${head}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="site">
<a class="brand" href="/docs/">Roomservice</a>
<nav aria-label="Site">
<a href="/docs/"${current('reference')}>Reference</a>
<a href="/docs/guides/"${current('guides')}>Guides</a>
</nav>
</header>
${body}
</body>
</html>
`;
}

const GUIDE_HEAD =
  '<link rel="stylesheet" href="/docs/assets/guides.css">\n<script src="/docs/assets/copy.js" defer></script>';

export function guidePage(guides: Guide[], name: Guide['name']): string {
  const position = guides.findIndex((each) => each.name === name);
  const guide = guides[position] as Guide;
  return htmlPage({
    title: `${guide.title} · Roomservice`,
    description: guide.summary,
    section: 'guides',
    head: `<link rel="alternate" type="text/markdown" href="${guideSourcePath(guide.name)}">\n${GUIDE_HEAD}`,
    body: `<div class="columns">
<nav class="guides" aria-label="Guides">
<ul>
${guides.map((each) => listItem(each, guide)).join('\n')}
</ul>
</nav>
<main id="content" tabindex="-1">
<article>
${guide.html}</article>
<footer>
<nav class="neighbours" aria-label="Previous and next guide">
${neighbour('previous', guides[position - 1])}
${neighbour('next', guides[position + 1])}
</nav>
<p><a href="${guideSourcePath(guide.name)}">This page as Markdown</a></p>
</footer>
</main>
</div>`,
  });
}

export function guidesIndexPage(guides: Guide[]): string {
  return htmlPage({
    title: 'Guides · Roomservice',
    description: 'How to integrate with Roomservice, from the first call to going live.',
    section: 'guides',
    head: GUIDE_HEAD,
    body: `<main id="content" tabindex="-1" class="index">
<h1>Guides</h1>
<p>From the first call to going live. The <a href="/docs/">reference</a> shows every operation, and you can try each one there.</p>
<ul class="cards">
${guides.map(card).join('\n')}
</ul>
<p>For language models: <a href="/llms.txt">llms.txt</a> links to every guide as plain Markdown.</p>
</main>`,
  });
}

export function unknownPage(): string {
  return htmlPage({
    title: 'Page not found · Roomservice',
    description: 'There is no page at this address.',
    section: null,
    head: GUIDE_HEAD,
    body: `<main id="content" tabindex="-1" class="index">
<p class="status">404</p>
<h1>There is no page at this address</h1>
<p>The address may be mistyped, or the page has another name now.</p>
<ul class="cards">
<li><h2><a href="/docs/">Reference</a></h2><p>Every operation of the APIs, to read and to try out.</p></li>
<li><h2><a href="/docs/guides/">Guides</a></h2><p>From the first call to going live.</p></li>
</ul>
</main>`,
  });
}

function listItem(guide: Guide, current: Guide): string {
  if (guide.name !== current.name) {
    return `<li><a href="${guidePath(guide.name)}">${escapeHtml(guide.title)}</a></li>`;
  }
  const sections = guide.sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`);
  const list = sections.length === 0 ? '' : `<ul>${sections.join('')}</ul>`;
  return `<li><a href="${guidePath(guide.name)}" aria-current="page">${escapeHtml(guide.title)}</a>${list}</li>`;
}

function neighbour(direction: 'previous' | 'next', guide: Guide | undefined): string {
  if (guide === undefined) {
    return '';
  }
  const label = direction === 'previous' ? 'Previous' : 'Next';
  return `<a class="${direction}" href="${guidePath(guide.name)}"><span>${label}</span> ${escapeHtml(guide.title)}</a>`;
}

function card({ name, title, summary }: Guide): string {
  return `<li><h2><a href="${guidePath(name)}">${escapeHtml(title)}</a></h2><p>${escapeHtml(summary)}</p></li>`;
}

/** `nonce` is also in the content security policy. The browser applies a style that Scalar adds only if the style has this value. */
export function referencePage(nonce: string): string {
  const sources = DOCUMENTS.map(({ name, title, security }) => ({
    title,
    slug: name,
    url: documentPath(name),
    authentication: { preferredSecurityScheme: [security] },
  }));
  return htmlPage({
    title: 'API reference · Roomservice',
    description: 'Every operation of the Roomservice APIs, to read and to try out.',
    section: 'reference',
    head: `<meta property="csp-nonce" content="${nonce}">
<link rel="stylesheet" href="/docs/assets/reference.css">
<script src="/docs/assets/reference.js" nonce="${nonce}" defer></script>
<script src="/docs/assets/scalar.js" defer></script>`,
    body: `<noscript>The reference needs JavaScript. The <a href="/docs/guides/">guides</a> work without it.</noscript>
<div id="content" tabindex="-1" data-sources="${escapeHtml(JSON.stringify(sources))}"></div>`,
  });
}

/** The policy lets the page load resources only from this service. Styles that scripts make need the nonce. */
export function referencePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Highlighted code has style attributes. They cannot have a nonce, and their values depend on the code. So all style attributes are
    // allowed. This is safe, because the policy blocks resources of other sites.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function llmsText(guides: Guide[]): string {
  return `# Roomservice

> Connects outside platforms to a restaurant's kitchen and a hotel's rooms. An order or a reservation is placed once, no matter how often it is sent. Signed webhooks report every change.

The documents below are in OpenAPI 3.1. Every path in them is relative to the address that this file was read from. The same texts as pages for people are at [the reference](/docs/) and [the guides](/docs/guides/).

## Guides

${guides.map(({ name, title, summary }) => llmsEntry(title, guideSourcePath(name), summary)).join('\n')}

## Reference

${DOCUMENTS.map(({ name, title, summary }) => llmsEntry(title, documentPath(name), summary)).join('\n')}
`;
}

function llmsEntry(title: string, address: string, summary: string): string {
  return `- [${title}](${address}): ${summary}`;
}
