import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResponseReader } from './response-reader.ts';

const KEEP_MS = 4_000;

function read(response: string, size: number) {
  const reader = new ResponseReader();
  for (let at = 0; at < response.length; at += size) {
    reader.read(Buffer.from(response.slice(at, at + size)));
  }
  const { status, text, isEnded, keepMs } = reader;
  return { status, text, isEnded, keepMs };
}

const ended = (status: number, text: string, keepMs = KEEP_MS) => ({ status, text, isEnded: true, keepMs });
const open = (text: string, keepMs = KEEP_MS) => ({ status: 200, text, isEnded: false, keepMs });

describe('a reader finds the status, the body, the end and the use of the connection in each of these responses, in one part and byte by byte', () => {
  for (const [head, body, expected] of [
    ['200 OK\r\ncontent-length: 2', 'ok', ended(200, 'ok')],
    ['200 OK\r\nContent-Length:0', '', ended(200, '')],
    ['204 No Content', '', ended(204, '')],
    ['204 No Content\r\nkeep-alive: timeout=5', '', ended(204, '', 3_000)],
    ['204 No Content\r\nkeep-alive: timeout=1, max=100', '', ended(204, '', 0)],
    ['204 No Content\r\nConnection: Close', '', ended(204, '', 0)],
    ['204 No Content\r\ncontent-length: 5', '', ended(204, '', 0)],
    ['304 Not Modified', '', ended(304, '')],
    ['503 Busy\r\ntransfer-encoding: chunked', '2\r\nok\r\n3;a=b\r\n, 3\r\n0\r\n\r\n', ended(503, 'ok, 3')],
    ['200 OK\r\nTransfer-Encoding: Chunked', '2\r\nok\r\n0\r\nx-trailer: a\r\n\r\n', ended(200, 'ok')],
    ['200 OK\r\ntransfer-encoding: chunked', '2\r\nok?', open('ok')],
    ['200 OK\r\ntransfer-encoding: chunked', '2\r\nok?\r\n', ended(200, 'ok', 0)],
    ['200 OK\r\ntransfer-encoding: chunked', 'two\r\n', ended(200, '', 0)],
    ['200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked', '2\r\nok\r\n0\r\n\r\n', ended(200, 'ok', 0)],
    ['200 OK\r\ncontent-length: 2\r\ncontent-length: 2', 'ok', ended(200, '', 0)],
    ['200 OK\r\nx-folded: a\r\n b\r\ncontent-length: 2', 'ok', ended(200, 'ok', 0)],
    ['200 OK', 'until the end', open('until the end', 0)],
    ['200 OK\r\ncontent-length: 9', 'cut', open('cut')],
    ['200 OK\r\ncontent-length: 2', 'ok!', ended(200, 'ok', 0)],
  ] as const) {
    it(JSON.stringify(`${head} ${body}`), () => {
      const text = `HTTP/1.1 ${head}\r\n\r\n${body}`;
      assert.deepEqual(read(text, text.length), expected);
      assert.deepEqual(read(text, 1), expected);
    });
  }
});

describe('the text that a reader keeps of a body', () => {
  const textOf = (body: Buffer) => {
    const reader = new ResponseReader();
    reader.read(Buffer.concat([Buffer.from(`HTTP/1.1 500 No\r\nContent-Length: ${body.length}\r\n\r\n`), body]));
    return reader.text;
  };

  it('the text has the first 1,024 bytes of a body, without an incomplete character at the end', () => {
    assert.equal(textOf(Buffer.from('a'.repeat(1_023) + 'é'.repeat(20_000))), 'a'.repeat(1_023));
    assert.equal(textOf(Buffer.alloc(60_000, 'b')), 'b'.repeat(1_024));
  });

  it('U+FFFD replaces NUL characters, which PostgreSQL does not store, and bytes that are not UTF-8', () => {
    const bytes = Buffer.from([0x61, 0x00, 0xff, 0xfe, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x5c, 0x22, 0x1b]);
    assert.match(textOf(bytes), /^a\uFFFD{3}é\uFFFD+\\"\p{Cc}$/u);
    const all = textOf(Buffer.from(Array.from({ length: 3_000 }, (_, index) => index % 256)));
    assert.ok(all.startsWith('\uFFFD\x01\x02') && !all.includes('\0') && all.isWellFormed());
  });
});
