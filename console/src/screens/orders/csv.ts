import type { Order } from './statuses.ts';
import { partnerOf, STATUS, TYPES } from './statuses.ts';

const COLUMNS: [title: string, value: (order: Order) => string | null][] = [
  ['number', ({ number }) => number],
  ['status', ({ status }) => STATUS[status].label],
  ['placed', ({ created_at: at }) => at],
  ['status since', ({ status_changed_at: at }) => at],
  ['partner', partnerOf],
  ["partner's id", ({ external_order_id: id }) => id],
  ['type', ({ order_type: type }) => TYPES[type]],
  ['guest', ({ customer }) => customer.name],
  ['phone', ({ customer }) => customer.phone],
  ['address', ({ delivery_address: address }) => address],
  ['dishes', ({ lines }) => lines.map(({ quantity, name }) => `${quantity} × ${name}`).join('; ')],
  ['notes', ({ notes }) => notes],
  ['total', ({ total }) => total],
  ['currency', ({ currency }) => currency],
  ['cancelled because', ({ cancel_reason: reason }) => reason],
];

/** Returns the orders as comma-separated values (RFC 4180). */
export function csvOf(orders: readonly Order[]): string {
  const rows = orders.map((order) => COLUMNS.map(([, value]) => cell(value(order) ?? '')));
  return [COLUMNS.map(([title]) => title), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
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
