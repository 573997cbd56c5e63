import { readActorNames } from '#access/actors/actors.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { invalidField, notFound } from '#platform/errors.ts';
import { MAX_LIMIT, readPart } from '#platform/http/keyset-page.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { callNumberOf } from '#platform/lib/natural-id.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { type ListedOrder, listOfTenant } from './list-store.ts';
import { filterOf } from './order-filter.ts';
import { historyOf } from './order-history.ts';
import type { OrderStatus, OrderType } from './order-status.ts';
import { type ChangeBy, setStatus } from './set-status.ts';
import type { StaffOrder, StaffOrderQuery } from './staff-schema.ts';
import * as store from './store.ts';

interface Dependencies {
  db: Database;
  transactionWithEvents: TransactionWithEvents;
}

/**
 * An order has up to 128 KiB of lines and as much text as fits into a body, and a list keeps a whole group in memory while its client reads
 * slowly.
 */
const FIRST_GROUP = 4;
const LARGEST_GROUP = 32;
const GROUP_LENGTH = 64 * 1024;

export class StaffOrders {
  readonly #db: Database;
  readonly #transactionWithEvents: TransactionWithEvents;

  constructor({ db, transactionWithEvents }: Dependencies) {
    this.#db = db;
    this.#transactionWithEvents = transactionWithEvents;
  }

  /**
   * @returns the order in its present status, as JSON
   * @throws ApiError 404 (`error`), 409 `invalid_status_transition`, 400 `invalid_request` if `reason` is given for another status than
   * `cancelled`
   */
  async changeStatus(tenantId: number, orderId: string, change: ChangeBy): Promise<string> {
    if (change.reason !== undefined && change.status !== 'cancelled') {
      throw invalidField('reason', 'is accepted only with the status "cancelled"');
    }
    const { status, status_changed_at } = await setStatus(this.#transactionWithEvents, tenantId, orderId, change);
    return staffText({ ...(await this.#read(tenantId, orderId)), status, status_changed_at });
  }

  /**
   * @returns the order with its history, as JSON
   * @throws ApiError 404 with the code `error` for an unknown id
   */
  async get(tenantId: number, orderId: string): Promise<string> {
    const row = await this.#read(tenantId, orderId);
    const history = historyOf(row, await store.readStatusChanges(this.#db, tenantId, row.id));
    const nameOf = await readActorNames(
      this.#db,
      tenantId,
      history.map(({ by }) => by),
    );
    return staffText(
      row,
      history.map(({ status, at, by }) => ({ status, at: at.toISOString(), by: nameOf(by) })),
    );
  }

  async #read(tenantId: number, orderId: string): Promise<store.OrderRow> {
    const [row] = isUuid(orderId) ? await store.readWhole(this.#db, tenantId, [orderId]) : [];
    if (row === undefined) {
      throw notFound('order');
    }
    return row;
  }

  /**
   * @returns the JSON of the response, in several texts
   * @throws ApiError 400 `invalid_request`
   */
  async list(tenantId: number, query: StaffOrderQuery): Promise<AsyncGenerator<string>> {
    if (query.open === undefined && query.limit !== undefined && query.limit > MAX_LIMIT) {
      throw invalidField('limit', `must be at most ${MAX_LIMIT}, unless the query has \`open=true\``);
    }
    const list = listOfTenant(tenantId, filterOf(query, Date.now()), query.order ?? 'newest');
    const { rows, next } = await readPart(this.#db, list, query);
    return this.#pageTexts(tenantId, rows, next);
  }

  /** The orders of a group are as large as those before it, so that most groups have about `GROUP_LENGTH` characters. */
  async *#pageTexts(tenantId: number, listed: ListedOrder[], next: string | null): AsyncGenerator<string> {
    let before = '{"results":[';
    let count = FIRST_GROUP;
    for (let from = 0; from < listed.length; ) {
      const group = listed.slice(from, from + count);
      const text = await this.#groupText(tenantId, group);
      yield before + text;
      before = ',';
      from += group.length;
      count = Math.min(Math.max(Math.round((GROUP_LENGTH * group.length) / text.length), 1), LARGEST_GROUP);
    }
    yield `${listed.length === 0 ? before : ''}],"next":${JSON.stringify(next)}}`;
  }

  async #groupText(tenantId: number, group: ListedOrder[]): Promise<string> {
    const ids = group.map(({ id }) => id);
    const rows = await withRetries(() => store.readWhole(this.#db, tenantId, ids));
    const wholeOf = new Map(rows.map((row) => [row.id, row]));
    // The status of an order may have changed since the list was read. Each order shows the status of the list.
    const texts = group.flatMap((state) => {
      const whole = wholeOf.get(state.id);
      return whole === undefined ? [] : [staffText({ ...whole, ...state })];
    });
    return texts.join(',');
  }
}

/** The stored JSON of the lines is copied without parsing it. */
function staffText(row: store.OrderRow, history?: StaffOrder['history']): string {
  const { beforeLines, afterLines } = staffParts(row);
  const end = JSON.stringify({ ...afterLines, history });
  return `${JSON.stringify(beforeLines).slice(0, -1)},"lines":${row.lines},${end.slice(1)}`;
}

function staffParts(row: store.OrderRow) {
  const beforeLines = {
    order_id: row.id,
    external_order_id: row.external_order_id,
    status: row.status as OrderStatus,
    order_type: row.order_type as OrderType,
    customer: { name: row.customer_name, phone: row.customer_phone },
    delivery_address: row.delivery_address,
    notes: row.notes,
  };
  const afterLines = {
    total: row.total,
    currency: row.currency,
    created_at: row.created_at.toISOString(),
    number: callNumberOf(row.id),
    credential_id: row.credential_id,
    credential_label: row.credential_label,
    status_changed_at: row.status_changed_at.toISOString(),
    ready_by: row.ready_by?.toISOString() ?? null,
    cancel_reason: row.status === 'cancelled' ? row.cancel_reason : null,
  };
  return { beforeLines, afterLines } satisfies {
    beforeLines: Partial<StaffOrder>;
    afterLines: Omit<StaffOrder, 'lines' | 'history' | keyof typeof beforeLines>;
  };
}
