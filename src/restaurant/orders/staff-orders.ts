import { type ChangeActor, readActorNames } from '#access/actors/actors.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { orNotFound, invalidField } from '#platform/errors.ts';
import { MAX_LIMIT, readPart } from '#platform/http/keyset-page.ts';
import { readBound, readIds, readPhone } from '#platform/http/search-query.ts';
import { firstIdAt, isUuid } from '#platform/lib/ids.ts';
import { callNumberOf, idEndOf } from '#platform/lib/natural-id.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { type ListedOrder, listOfTenant, type OrderFilter } from './list-store.ts';
import type { OrderStatus, OrderType } from './order-status.ts';
import { type ChangeBy, setStatus } from './set-status.ts';
import type { StaffOrder, StaffOrderQuery } from './staff-schema.ts';
import * as store from './store.ts';

/** Orders that a list reads together. It keeps them while its client reads slowly, and each has up to 128 KiB of lines. */
const GROUP = 10;
/** Length from which a text is sent. Longer texts would be copied as a whole. */
const SENT_LENGTH = 65_536;

/**
 * @returns the order in its present status, as JSON
 * @throws ApiError 404 (`error`), 409 `invalid_status_transition`, 400 `invalid_request` if `reason` is given for another status than
 * `cancelled`
 */
export async function changeOrderStatus(
  { db, transactionWithEvents }: { db: Database; transactionWithEvents: TransactionWithEvents },
  tenantId: number,
  orderId: string,
  change: ChangeBy,
): Promise<string> {
  if (change.reason !== undefined && change.status !== 'cancelled') {
    throw invalidField('reason', 'is accepted only with the status "cancelled"');
  }
  const { status, status_changed_at } = await setStatus(transactionWithEvents, tenantId, orderId, change);
  return staffText({ ...(await readOrder(db, tenantId, orderId)), status, status_changed_at });
}

/**
 * @returns the order with its history, as JSON
 * @throws ApiError 404 with the code `error` for an unknown id
 */
export async function showOrder(db: Database, tenantId: number, orderId: string): Promise<string> {
  const row = await readOrder(db, tenantId, orderId);
  const changes = await store.readStatusChanges(db, tenantId, row.id);
  // The history ends with the status of the order, also if the order has changed after it was read.
  const reached = changes.findIndex(({ status }) => status === row.status) + 1;
  const history = [
    { status: 'pending', changed_at: row.created_at, actor_type: 'partner', actor_id: row.credential_id },
    ...changes.slice(0, reached),
  ].map(({ status, changed_at, actor_type, actor_id }) => ({
    status: status as OrderStatus,
    at: changed_at.toISOString(),
    by: { type: actor_type as ChangeActor['type'], id: actor_id },
  }));
  const actors = history.map(({ by }) => by);
  const nameOf = await readActorNames(db, tenantId, actors);
  const named = history.map((entry) => ({ ...entry, by: nameOf(entry.by) }));
  return staffText(row, named);
}

async function readOrder(db: Database, tenantId: number, orderId: string): Promise<store.OrderRow> {
  return orNotFound(isUuid(orderId) ? (await store.readWhole(db, tenantId, [orderId]))[0] : undefined, 'order');
}

/**
 * @returns the JSON of the response, in several texts
 * @throws ApiError 400 `invalid_request`
 */
export async function listOrders(db: Database, tenantId: number, query: StaffOrderQuery) {
  if (query.open === undefined && query.limit !== undefined && query.limit > MAX_LIMIT) {
    throw invalidField('limit', `must be at most ${MAX_LIMIT}, unless the query has \`open=true\``);
  }
  const list = listOfTenant(tenantId, filterOf(query), query.order ?? 'newest');
  const { rows, next } = await readPart(db, list, query);
  return pageTexts(db, tenantId, rows, next);
}

/** The status of an order may have changed since the list was read, so each order shows the status of the list. No order is ever deleted. */
async function* pageTexts(db: Database, tenantId: number, listed: ListedOrder[], next: string | null) {
  let text = '{"results":[';
  for (let from = 0; from < listed.length; from += GROUP) {
    const group = listed.slice(from, from + GROUP);
    const ids = group.map(({ id }) => id);
    const rows = await withRetries(() => store.readWhole(db, tenantId, ids));
    const wholeOf = new Map(rows.map((row) => [row.id, row]));
    for (const [index, state] of group.entries()) {
      text += `${from + index === 0 ? '' : ','}${staffText({ ...(wholeOf.get(state.id) as store.OrderRow), ...state })}`;
      if (text.length >= SENT_LENGTH) {
        yield text;
        text = '';
      }
    }
  }
  yield `${text}],"next":${JSON.stringify(next)}}`;
}

/** A search by name or by number without `created_from` covers these last days. */
const SEARCHED_DAYS = 31;
const DAY_MS = 86_400_000;

/** @throws ApiError 400 `invalid_request` */
function filterOf({ created_from, created_to, ids, phone, number, ...query }: StaffOrderQuery): OrderFilter {
  const isSearch = query.name !== undefined || number !== undefined;
  const searchedFrom = isSearch ? firstIdAt(Date.now() - SEARCHED_DAYS * DAY_MS) : undefined;
  return {
    ...query,
    ids: ids === undefined ? undefined : readIds(ids),
    digits: phone === undefined ? undefined : readPhone(phone),
    idEnd: number === undefined ? undefined : idEndOf(number),
    fromId: created_from === undefined ? searchedFrom : firstIdAt(readBound(created_from)),
    beforeId: created_to === undefined ? undefined : firstIdAt(readBound(created_to)),
  };
}

/** Copies the stored JSON of the lines without parsing it. No other text has `"lines":null`, because JSON escapes the quotes in a text. */
function staffText(row: store.OrderRow, history?: StaffOrder['history']): string {
  const order: Omit<StaffOrder, 'lines'> & { lines: null } = {
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
    order_type: row.order_type as OrderType,
    customer: { name: row.customer_name, phone: row.customer_phone },
    delivery_address: row.delivery_address,
    notes: row.notes,
    lines: null,
    total: row.total,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
    number: callNumberOf(row.id),
    credential_id: row.credential_id,
    credential_label: row.credential_label,
    status_changed_at: row.status_changed_at.toISOString(),
    ready_by: row.ready_by?.toISOString() ?? null,
    cancel_reason: row.status === 'cancelled' ? row.cancel_reason : null,
    ...(history && { history }),
  };
  return JSON.stringify(order).replace('"lines":null', () => `"lines":${row.lines}`);
}
