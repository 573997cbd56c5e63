import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptsGzip, acceptsHtml } from './accept.ts';

describe('acceptsGzip', () => {
  for (const header of [
    'gzip',
    'GZIP',
    'deflate, gzip;q=1.0, *;q=0.5',
    'br , gzip ; q=0.1',
    '*',
    'x-gzip',
    'br, *;q=0.2',
  ]) {
    it(`Accept-Encoding "${header}" allows gzip`, () => assert.equal(acceptsGzip(header), true));
  }
  for (const header of [
    undefined,
    '',
    'identity',
    'br',
    'gzip;q=0',
    'gzip;q=0.000, *',
    '*;q=0',
    'gzip;q=no',
    'gzipped',
  ]) {
    it(`acceptsGzip returns false if the header Accept-Encoding is ${header === undefined ? 'missing' : `"${header}"`}`, () =>
      assert.equal(acceptsGzip(header), false));
  }
});

describe('acceptsHtml', () => {
  for (const header of [
    'text/html',
    'Text/HTML; charset=utf-8',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'application/json, text/html ; q=0.1',
    'text/*',
  ]) {
    it(`Accept "${header}" allows HTML`, () => assert.equal(acceptsHtml(header), true));
  }
  for (const header of [
    undefined,
    '',
    '*/*',
    'application/json, text/plain, */*',
    'text/html;q=0',
    'text/html;q=0.0, text/*',
    'text/htmlx',
  ]) {
    it(`acceptsHtml returns false if the header Accept is ${header === undefined ? 'missing' : `"${header}"`}`, () =>
      assert.equal(acceptsHtml(header), false));
  }
});
