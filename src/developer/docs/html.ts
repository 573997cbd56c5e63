const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

export interface PageParts {
  title: string;
  description: string;
  section: 'reference' | 'guides';
  head: string;
  /** HTML below the header of the site. It contains the element with the id `content`, which has the main content. */
  body: string;
}

/** All links begin with a slash, so that they work with and without a slash at the end of the page's URL. */
export function htmlPage({ title, description, section, head, body }: PageParts): string {
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
