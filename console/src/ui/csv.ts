export type CsvColumn<Row> = [title: string, value: (row: Row) => string | null];

/** Returns rows as comma-separated values (RFC 4180). */
export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const texts = rows.map((row) => columns.map(([, value]) => cell(value(row) ?? '')));
  return [columns.map(([title]) => title), ...texts].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Text of a partner that begins like a formula is no formula for a spreadsheet. */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Hands a text to the browser as a file. */
export function download(name: string, text: string): void {
  // The mark tells spreadsheets that the text is UTF-8.
  const url = URL.createObjectURL(new Blob(['\uFEFF', text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
