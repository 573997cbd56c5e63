/** An amount of money is a text such as `12.50`, because a number would lose the last zero. */
export type CsvCell = string | number | null;

/** A spreadsheet may run such a text as a formula, and some skip a tab or CR before it (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Returns rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it. */
export function csvOf(rows: CsvCell[][]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: CsvCell): string {
  if (typeof cell !== 'string') {
    return cell === null ? '' : String(cell);
  }
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
