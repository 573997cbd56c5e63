export type CsvColumn<Row> = [title: string, value: (row: Row) => string | null];

/** A spreadsheet takes `2026-11-29 18:42:07` for a time, and what the API writes for a text. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Hands rows to the browser as a file of comma-separated values (RFC 4180), with times as the house's clocks show them. */
export function downloadCsv<Row>(
  name: string,
  columns: CsvColumn<Row>[],
  rows: readonly Row[],
  timeZone: string,
): void {
  const textOf = (value: string | null) =>
    (value ?? '').replace(TIME, (time) => new Date(time).toLocaleString('sv-SE', { timeZone }));
  const lines = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, value]) => textOf(value(row))))];
  const text = lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
  // The mark tells spreadsheets that the text is UTF-8.
  download(name, `\uFEFF${text}`, 'text/csv;charset=utf-8');
}

/** Text of a partner that begins like a formula is no formula for a spreadsheet. */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
