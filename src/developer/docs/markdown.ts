import type { Token, Tokens } from 'marked';
import { escapeHtml } from './html.ts';

/** A text, taken apart. `title` (the first heading) and `summary` (the first paragraph) are plain text. */
export interface RenderedMarkdown {
  title: string;
  summary: string;
  /** The headings of the second level. */
  sections: { id: string; title: string }[];
  html: string;
}

/** Where a link leads on the site; null: nowhere, its text alone is shown. */
export type ResolveLink = (href: string) => string | null;

/** Renders Markdown of our own. Markup in it is shown as it stands, never taken as markup. */
export async function renderMarkdown(markdown: string, resolveLink: ResolveLink): Promise<RenderedMarkdown> {
  // Loaded by who reads a guide first, not at the start.
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

/** A token's text without its markup. */
function plainText(token: Token | undefined): string {
  const children = token !== undefined && 'tokens' in token ? token.tokens : undefined;
  if (children !== undefined) {
    return children.map(plainText).join('').replaceAll('\n', ' ');
  }
  return token !== undefined && 'text' in token ? token.text : '';
}

/** Anchors by the rule of common code hosts, so that a link to one works there as well. */
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

/** What scrolls can be reached with the keyboard. */
function codeBlock(text: string, language = ''): string {
  const [name = ''] = language.split(/\s/);
  return `<pre tabindex="0"><code${name === '' ? '' : ` class="language-${escapeHtml(name)}"`}>${escapeHtml(text)}\n</code></pre>\n`;
}

/** It scrolls, and each cell knows its heading: on a narrow screen, where rows are stacked, the heading stands in the cell. */
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
