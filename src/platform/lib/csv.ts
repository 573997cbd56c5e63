/**
 * Content of a cell: a number, a text, or null for an empty cell. An amount of money is a text such as `12.50`, because a number would lose
 * the last zero. A spreadsheet reads such a text as a number too.
 */
export type CsvCell = string | number | null;

/**
 * First character of a text that a spreadsheet may run as a formula (OWASP, "CSV Injection"). A tab or CR counts too, because some
 * spreadsheets skip it and run the formula after it.
 */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Returns rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it, so that the spreadsheet
 * shows the text and runs no formula.
 */
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
