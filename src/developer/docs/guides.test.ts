import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { GUIDE_NAMES, readGuide, resolveGuideLink } from './guides.ts';

describe('guides', () => {
  it('GUIDE_NAMES lists each Markdown file of docs/guides exactly once', async () => {
    const files = await readdir(join(import.meta.dirname, '..', '..', '..', 'docs', 'guides'));
    const guides = files.filter((file) => file.endsWith('.md'));
    assert.deepEqual(GUIDE_NAMES.map((name) => `${name}.md`).sort(), guides.sort());
  });

  it('each guide has a title of 3 to 60 characters and a first paragraph of 20 to 400 characters', async () => {
    for (const name of GUIDE_NAMES) {
      const { title, summary } = await readGuide(name);
      assert.ok(title.length >= 3 && title.length <= 60, `${name}: ${title}`);
      assert.ok(summary.length >= 20 && summary.length <= 400, `${name}: ${summary}`);
    }
  });

  it('resolveGuideLink turns a link to a guide or OpenAPI file into its path on the site, and keeps URLs, site paths and anchors', () => {
    for (const [href, address] of [
      ['webhooks.md', '/docs/guides/webhooks/'],
      ['webhooks.md#signature', '/docs/guides/webhooks/#signature'],
      ['../../contract/pms.json', '/openapi/pms.json'],
      ['#here', '#here'],
      ['/docs/', '/docs/'],
      ['https://example.com/a.md', 'https://example.com/a.md'],
      ['mailto:a@example.com', 'mailto:a@example.com'],
    ]) {
      assert.equal(resolveGuideLink(href ?? ''), address);
    }
  });

  it('resolveGuideLink returns null for a link to a repository file that the site does not serve', () => {
    for (const href of ['../../README.md', '../ARCHITECTURE.md#the-map', '../../contract/none.json']) {
      assert.equal(resolveGuideLink(href), null);
    }
  });

  it('resolveGuideLink throws an error for a link to a missing guide, and for a guide link that does not have the form name.md', () => {
    for (const href of ['webhook.md', 'webhooks', './webhooks.md', 'webhooks.txt#a']) {
      assert.throws(() => resolveGuideLink(href), /is not a guide/);
    }
  });
});
