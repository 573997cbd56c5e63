import type { CsvColumn } from '../../ui/csv.ts';
import { type Order, partnerOf, STATUS, TYPES } from './statuses.ts';

/** What a spreadsheet gets of an order. */
export const CSV_COLUMNS: CsvColumn<Order>[] = [
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
