import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../errors.ts';
import { decodeMultipart } from './multipart.ts';

const BOUNDARY = 'XbX';
const END = `--${BOUNDARY}--\r\n`;

function part(headers: string, value: string): string {
  return `--${BOUNDARY}\r\n${headers}\r\n\r\n${value}\r\n`;
}

function field(parameters: string, value: string): string {
  return part(`Content-Disposition: form-data; ${parameters}`, value);
}

function decode(body: string | Buffer): Array<[string, string]> {
  return decodeMultipart(Buffer.from(body), BOUNDARY);
}

function refuses(body: string | Buffer, message: string): void {
  assert.throws(
    () => decode(body),
    (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.statusCode, error.message], [400, message]);
      return true;
    },
  );
}

describe('decodeMultipart', () => {
  it('decodeMultipart returns all fields in order, including repeated fields', () => {
    const body = field('name="a"', '1') + field('name="b[0].c"', 'Zoë 😀') + field('name="a"', '') + END;
    assert.deepEqual(decode(body), [
      ['a', '1'],
      ['b[0].c', 'Zoë 😀'],
      ['a', ''],
    ]);
    assert.deepEqual(decode(END), []);
  });

  it('decodeMultipart accepts field names that are unquoted, escaped or in UTF-8, and part headers in any letter case and spacing', () => {
    const names: Array<[string, string]> = [
      ['name=a', 'a'],
      ['name="a \\"b\\" c:\\d"', 'a "b" c:\\d'],
      ['name="größe"', 'größe'],
      [' Name="a;b" ', 'a;b'],
    ];
    for (const [parameters, name] of names) {
      assert.deepEqual(decode(field(parameters, '1') + END), [[name, '1']]);
    }
    assert.deepEqual(decode(part('content-DISPOSITION:Form-Data;name="a"', '1') + END), [['a', '1']]);
    const typed = 'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=a';
    assert.deepEqual(decode(part(typed, '1') + END), [['a', '1']]);
  });

  it('decodeMultipart ignores text before the first boundary and after the last boundary', () => {
    assert.deepEqual(decode(`preamble\r\n${field('name="a"', '1')}--${BOUNDARY}--\r\nepilogue`), [['a', '1']]);
    assert.deepEqual(decode(`${field('name="a"', '1')}--${BOUNDARY}--`), [['a', '1']]);
  });

  it('decodeMultipart does not change a value that resembles a boundary, has line breaks or starts with a byte order mark', () => {
    for (const value of [BOUNDARY, ` --${BOUNDARY}--`, `\n--${BOUNDARY}`, 'a\r\n\r\nb\r\n', '\uFEFFa']) {
      assert.deepEqual(decode(field('name="a"', value) + END), [['a', value]]);
    }
  });

  it('decodeMultipart refuses files, also empty and binary files, and the message names the field', () => {
    refuses(field('name="menu"; filename="x.png"', '\x89PNG') + END, 'menu: files are not accepted');
    refuses(field('name="menu"; filename=""', '') + END, 'menu: files are not accepted');
    refuses(field('name="menu"; filename*=utf-8\'\'x', '') + END, 'menu: files are not accepted');
    const binary = Buffer.concat([
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="menu"; filename="x"\r\n\r\n`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`\r\n${END}`),
    ]);
    refuses(binary, 'menu: files are not accepted');
  });

  it('decodeMultipart refuses a body that is cut off after any of its bytes, one without the boundary, and a Content-Type without one', () => {
    const whole = field('name="a"', '1') + field('name="b"', '2') + END;
    const closed = whole.length - '\r\n'.length;
    for (let length = 1; length < closed; length += 1) {
      assert.throws(() => decode(whole.slice(0, length)), ApiError, `the body is cut off after ${length} bytes`);
    }
    refuses(field('name="a"', '1'), 'body: ends before its closing boundary');
    refuses('a=1&b=2', 'body: ends before its closing boundary');
    for (const boundary of [null, '']) {
      assert.throws(() => decodeMultipart(Buffer.from(END), boundary), /^ApiError: body: .* without a boundary$/);
    }
  });

  it('decodeMultipart refuses a malformed part, and a part without a name', () => {
    refuses(part('X-Other: 1', '1') + END, 'body: contains a part without a name');
    refuses(field('size=1', '1') + END, 'body: contains a part without a name');
    refuses(
      part('Content-Disposition: attachment; name="a"', '1') + END,
      'body: contains a malformed Content-Disposition',
    );
    refuses(field('name="a', '1') + END, 'body: contains a malformed Content-Disposition');
    refuses(part('no colon', '1') + END, 'body: contains a multipart part that is malformed');
    refuses(`--${BOUNDARY}and more\r\n\r\n\r\n${END}`, 'body: contains a multipart part that is malformed');
    refuses((field('name="a"', '1') + END).replaceAll('\r\n', '\n'), 'body: ends before its closing boundary');
  });

  it('decodeMultipart refuses names and values that are not UTF-8 or contain U+0000', () => {
    refuses(Buffer.from(field('name="a"', '\xff') + END, 'latin1'), 'a: contains bytes that are not UTF-8');
    refuses(Buffer.from(field('name="\xff"', '1') + END, 'latin1'), 'body: contains bytes that are not UTF-8');
    refuses(field('name="a"', '\0') + END, 'a: contains U+0000');
    refuses(field('name="\0"', '1') + END, 'body: contains U+0000');
  });

  it('decodeMultipart refuses a part with Content-Transfer-Encoding base64, and accepts 8bit', () => {
    const base64 = 'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64';
    refuses(part(base64, 'MQ==') + END, 'a: has a Content-Transfer-Encoding other than 7bit, 8bit or binary');
    assert.deepEqual(decode(part(base64.replace('base64', '8BIT'), '1') + END), [['a', '1']]);
  });

  it('decodeMultipart accepts 20,000 fields, and refuses more', () => {
    const one = `--${BOUNDARY}\r\nContent-Disposition:form-data;name=a\r\n\r\n\r\n`;
    assert.equal(decode(one.repeat(20_000) + END).length, 20_000);
    refuses(one.repeat(20_001) + END, 'body: contains more than 20000 fields');
    refuses(one.repeat(30_000), 'body: contains more than 20000 fields');
  });

  it('decodeMultipart restores any fields that FormData has encoded', async () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !/[\0\r\n"\\]/.test(value));
    const fields = fc.array(fc.tuple(text.filter(Boolean), text));
    await fc.assert(
      fc.asyncProperty(fields, async (pairs) => {
        const data = new FormData();
        pairs.forEach(([name, value]) => data.append(name, value));
        const response = new Response(data);
        const boundary = response.headers.get('content-type')?.split('boundary=')[1] ?? null;
        assert.deepEqual(decodeMultipart(Buffer.from(await response.arrayBuffer()), boundary), pairs);
      }),
    );
  });

  it('for random bytes, decodeMultipart throws no errors except ApiError', () => {
    const disposition = 'Content-Disposition: form-data';
    const piece = fc.constantFrom('\r\n', '--', BOUNDARY, disposition, '; name="', ...Array.from('"\\;\xffa'));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          decode(Buffer.from(`--${BOUNDARY}\r\n${pieces.join('')}\r\n${END}`, 'latin1'));
        } catch (error) {
          assert.ok(error instanceof ApiError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
