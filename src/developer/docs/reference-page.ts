import { DOCUMENTS, documentPath } from './api-documents.ts';
import { escapeHtml, htmlPage } from './html.ts';

/**
 * The page of the API reference. Its content is made in the browser, by Scalar.
 * @param nonce lets the styles in that Scalar makes; the page's own policy names it
 */
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
    body: `<noscript>The reference needs JavaScript. The <a href="/docs/guides/">guides</a> do without.</noscript>
<div id="content" tabindex="-1" data-sources="${escapeHtml(JSON.stringify(sources))}"></div>`,
  });
}

/** Nothing but this service, whatever a page says; styles that a script makes need the nonce. */
export function referencePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Attributes can have no nonce, and those of highlighted code differ from text to text. They can load nothing.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
