import { DOCUMENTS, documentPath } from './api-documents.ts';
import { escapeHtml, htmlPage } from './html.ts';

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
