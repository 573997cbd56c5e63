import assert from 'node:assert/strict';

/** Reads CSV strictly by RFC 4180. @returns the cells of each row, without the quotes around a cell */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /"((?:[^"]|"")*)"(,|\r\n)|([^",\r\n]*)(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const begin = cell.lastIndex;
    const found = cell.exec(text);
    assert.ok(
      found,
      `no cell of RFC 4180 begins at position ${begin}: ${JSON.stringify(text.slice(begin, begin + 80))}`,
    );
    const [, quoted, quotedEnd, plain = '', plainEnd] = found;
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if ((quotedEnd ?? plainEnd) === '\r\n') {
      rows.push(row);
      row = [];
    }
  }
  assert.deepEqual(row, [], 'the last row ends with CRLF');
  return rows;
}
