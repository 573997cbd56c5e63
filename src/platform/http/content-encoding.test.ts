import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptsGzip } from './content-encoding.ts';

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
