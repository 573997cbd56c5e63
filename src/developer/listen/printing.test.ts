import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTextPrinter } from './printing.ts';

describe('the line that the listen command prints for each attempt to forward an event', () => {
  for (const [httpStatus, error, waitMs, expected] of [
    [204, null, null, '-> 204 in 7 ms'],
    [401, null, 500, /^-> 401 in 7 ms, trying again in 0\.5 s: .*\braw body\b.*\bsecret\b.*\?$/],
    [401, null, null, /^-> 401 in 7 ms: .*\bsecret\b/],
    [500, null, null, '-> 500 in 7 ms'],
    [null, 'ECONNREFUSED', null, /^-> no response \(ECONNREFUSED\): no server listens there/],
    [null, 'EPROTO', null, /^-> no response \(EPROTO\): your server does not use TLS on that port/],
    [null, 'EPIPE', 1_500, '-> no response (EPIPE), trying again in 1.5 s'],
  ] as const) {
    const retry = waitMs === null ? 'no retry' : `a retry after ${waitMs} ms`;
    it(`if forwarding an event ends with ${httpStatus ?? error} and is followed by ${retry}, the listen command prints the line ${expected}`, () => {
      const lines: string[] = [];
      const attempt = { httpStatus, error, durationMs: 7, isOk: httpStatus === 204 };
      createTextPrinter((line) => lines.push(line.trim())).attempted(attempt, waitMs);
      assert.equal(lines.length, 1);
      if (typeof expected === 'string') assert.equal(lines[0], expected);
      else assert.match(lines[0] ?? '', expected);
    });
  }
});
