import { escapeHtml, htmlPage } from './html.ts';
import { type Guide, guidePath, guideSourcePath } from './guides.ts';

const HEAD =
  '<link rel="stylesheet" href="/docs/assets/guides.css">\n<script src="/docs/assets/copy.js" defer></script>';

export function guidePage(guides: Guide[], guide: Guide): string {
  const position = guides.findIndex(({ name }) => name === guide.name);
  return htmlPage({
    title: `${guide.title} · Roomservice`,
    description: guide.summary,
    section: 'guides',
    head: `<link rel="alternate" type="text/markdown" href="${guideSourcePath(guide.name)}">\n${HEAD}`,
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
    head: HEAD,
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
