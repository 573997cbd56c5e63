import assert from 'node:assert/strict';
import { it } from 'node:test';
import { acceptsGzip, acceptsHtml } from './accept.ts';

it('Accept-Encoding allows gzip by name, in any case, or by an asterisk, and not with the quality 0', () => {
  for (const header of ['gzip', 'GZIP', 'deflate, gzip;q=1.0, *;q=0.5', 'br , gzip ; q=0.1', 'x-gzip', 'br, *;q=0.2']) {
    assert.equal(acceptsGzip(header), true, header);
  }
  for (const header of [undefined, '', 'identity', 'gzip;q=0', 'gzip;q=0.000, *', '*;q=0', 'gzip;q=no', 'gzipped']) {
    assert.equal(acceptsGzip(header), false, header);
  }
});

it('Accept allows HTML only if it names text/html or text/*, and not with the quality 0', () => {
  const ofBrowser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
  for (const header of ['Text/HTML; charset=utf-8', ofBrowser, 'application/json, text/html ; q=0.1', 'text/*']) {
    assert.equal(acceptsHtml(header), true, header);
  }
  for (const header of [undefined, '', '*/*', 'text/plain, */*', 'text/html;q=0.0, text/*', 'text/htmlx']) {
    assert.equal(acceptsHtml(header), false, header);
  }
});
