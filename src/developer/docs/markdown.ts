import type { Token, Tokens } from 'marked';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** `title` is the first heading of level 1, and `summary` is the first paragraph. Both are plain text. */
export interface RenderedMarkdown {
  title: string;
  summary: string;
  sections: { id: string; title: string }[];
  html: string;
}

/** Returns null if the site does not have the page. The rendered HTML then has only the text of the link. */
type ResolveLink = (href: string) => string | null;

/** HTML markup in the text is escaped, so the reader sees it as text. */
export async function renderMarkdown(markdown: string, resolveLink: ResolveLink): Promise<RenderedMarkdown> {
  // The library `marked` is loaded at the first call, so that the start of the service does not wait for it.
  const { Marked } = await import('marked');
  const ids = new Map<Token, string>();
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      code: ({ text, lang }) => codeBlock(text, lang),
      heading(token) {
        return heading(token, ids.get(token), this.parser.parseInline(token.tokens));
      },
      table(token) {
        return table(token, (cell) => this.parser.parseInline(cell.tokens));
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = resolveLink(href);
        return address === null ? text : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(resolveLink(href) ?? href)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const headings = tokens.filter((token) => isHeading(token));
  const nextId = createIds();
  for (const token of headings) {
    ids.set(token, nextId(plainText(token)));
  }
  return {
    title: plainText(headings.find(({ depth }) => depth === 1)),
    summary: plainText(tokens.find(({ type }) => type === 'paragraph')),
    sections: headings
      .filter(({ depth }) => depth === 2)
      .map((token) => ({ id: ids.get(token) ?? '', title: plainText(token) })),
    html: marked.parser(tokens),
  };
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

function plainText(token: Token | undefined): string {
  const children = token !== undefined && 'tokens' in token ? token.tokens : undefined;
  if (children !== undefined) {
    return children.map(plainText).join('').replaceAll('\n', ' ');
  }
  return token !== undefined && 'text' in token ? token.text : '';
}

/** Common code hosts make anchors by the same rule, so a link to an anchor works both on the site and on the code host. */
function createIds(): (title: string) => string {
  const used = new Map<string, number>();
  return (title) => {
    const id = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = used.get(id) ?? 0;
    used.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

function heading(token: Tokens.Heading, id: string | undefined, html: string): string {
  const tag = `h${token.depth}`;
  if (id === undefined || token.depth === 1) {
    return `<${tag}>${html}</${tag}>\n`;
  }
  const label = escapeHtml(`Link to “${plainText(token)}”`);
  return `<${tag} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="${label}">#</a></${tag}>\n`;
}

/** A wide block scrolls. With `tabindex`, a reader can also scroll the block with the keyboard. */
function codeBlock(text: string, language = ''): string {
  const [name = ''] = language.split(/\s/);
  return `<pre tabindex="0"><code${name === '' ? '' : ` class="language-${escapeHtml(name)}"`}>${escapeHtml(text)}\n</code></pre>\n`;
}

/** On a narrow screen, the cells of a row are below each other, so each cell has the heading of its column in `data-label`. */
function table({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const labels = header.map(({ tokens }) => escapeHtml(tokens.map(plainText).join('')));
  const headings = header.map((cell) => `<th>${inline(cell)}</th>`).join('');
  const body = rows.map((row) => {
    const cells = row.map((cell, column) => `<td data-label="${labels[column]}">${inline(cell)}</td>`);
    return `<tr>${cells.join('')}</tr>\n`;
  });
  return `<div class="table" tabindex="0"><table>
<thead><tr>${headings}</tr></thead>
<tbody>
${body.join('')}</tbody>
</table></div>
`;
}
