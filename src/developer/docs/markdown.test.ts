import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderMarkdown } from './markdown.ts';

const render = (markdown: string) => renderMarkdown(markdown, (href) => href);

describe('renderMarkdown', () => {
  it('HTML markup in a Markdown text is escaped, so that the text adds no element and no attribute to the page', async () => {
    const { html } = await render(
      '<script>alert(1)</script>\n\na <b onclick="x">b</b> `<i>` [<u>](x"y) ![<s>](z "<t>")\n\n```"><p>\n</code>\n```\n\n# <em>\n\n| <q> |\n|---|\n| <img src=x> |',
    );
    const tags = new Set([...html.matchAll(/<\/?(\w+)/g)].map(([, name]) => name));
    const ours = new Set(['p', 'code', 'a', 'img', 'pre', 'h1', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td']);
    assert.deepEqual(
      [...tags].filter((tag) => !ours.has(tag ?? '')),
      [],
    );
    assert.equal(html.match(/<img/g)?.length, 1, 'only the picture that was written as Markdown');
    assert.doesNotMatch(html, /<[^>]*\sonclick/);
    assert.match(html, /href="x&quot;y"/);
  });

  it('the title, the summary and the section titles of a Markdown text are plain text without markup', async () => {
    const { title, summary, sections } = await render(
      '# A `code` & *more*\n\nFirst **bold**\nline, [link](x).\n\nSecond.\n\n## One `x`\n\n### Deep\n\n## Two',
    );
    assert.deepEqual([title, summary], ['A code & more', 'First bold line, link.']);
    assert.deepEqual(sections, [
      { id: 'one-x', title: 'One x' },
      { id: 'two', title: 'Two' },
    ]);
  });

  it('each heading below the title has its own anchor, and the anchor of a repeated heading gets a number', async () => {
    const { html } = await render('# T\n\n## Größe: `a_b`-c!\n\n## Next\n\n### Next');
    assert.deepEqual(
      [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id),
      ['größe-a_b-c', 'next', 'next-1'],
    );
  });

  it('code blocks and tables can have the keyboard focus, so that a reader can scroll with the keyboard', async () => {
    const { html } = await render('```sh\nls\n```\n\n| a |\n|---|\n| b |');
    assert.match(html, /<pre tabindex="0"><code class="language-sh">ls\n<\/code><\/pre>/);
    assert.match(html, /<div class="table" tabindex="0"><table>[^]*<\/table><\/div>/);
  });

  it('each table cell has the heading of its column in the attribute data-label, which a narrow screen shows', async () => {
    const { html } = await render('| a | b "`c`" |\n|---|---|\n| 1 | `2` |');
    assert.match(html, /<td data-label="a">1<\/td><td data-label="b &quot;c&quot;"><code>2<\/code><\/td>/);
  });

  it('if the site has no page for a link, the text of the link is shown without a link', async () => {
    const { html } = await renderMarkdown('see [the *text*](../x)', () => null);
    assert.equal(html, '<p>see the <em>text</em></p>\n');
  });
});
