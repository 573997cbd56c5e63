/** Rate plans, the price of each night, stop-sell, and the price of a stay. */
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { batching } from '#platform/db/batching.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { orNotFound } from '#platform/errors.ts';
import { describeListChanges } from '#platform/lib/change-list.ts';
import { changedRows, rowsToWrite } from '#platform/lib/changed-rows.ts';
import { type DateText, nightsOf } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type { RatePlanDocument } from '../rooms/rooms.ts';
import { lockPlans } from './rate-changes.ts';
import { closedNights, nightPrice } from './quote.ts';
import type { Rate, RatePlan, RatesWrite, RestrictionsWrite } from './schema.ts';
import * as store from './store.ts';

export { type PlanCalendar, readCalendars, STAY_RANGE, type StayRange } from './store.ts';
export { checkAmounts, checkPrices, nightPrice, type Quote, quoteCheapest, quotePlan, roundedQuote } from './quote.ts';
export { RATE_PLAN_EXAMPLES, Rate, RatePlan, RatesWrite, RestrictionsWrite } from './schema.ts';

export async function listActivePlans(db: Database, tenantId: number): Promise<Map<string, RatePlan[]>> {
  const plans = await store.readPlans(db, tenantId);
  return Map.groupBy(
    plans.filter(({ is_active }) => is_active),
    (plan) => plan.room_type_id,
  );
}

export interface RateReader {
  readCalendars: (range: store.StayRange) => Promise<store.PlanCalendar[]>;
  /** Returns the nights on which all active rate plans of the room type are sold out (rule 24). */
  readClosedNights: (range: store.StayRange) => Promise<Set<DateText>>;
}

/** Reads that arrive together share one SQL statement. */
export function batched<Output>(
  db: Database,
  read: (db: Database, ranges: store.StayRange[]) => Promise<Output[]>,
): (range: store.StayRange) => Promise<Output> {
  return batching(
    db,
    (ranges) => read(db, ranges),
    ({ tenant_id }) => tenant_id,
  );
}

export function createRateReader(db: Database): RateReader {
  const readSoldOutNights = batched(db, store.readSoldOutNights);
  return {
    readCalendars: batched(db, store.readCalendars),
    readClosedNights: async (range) => closedNights(await readSoldOutNights(range)),
  };
}

/**
 * Returns the price of each night under one rate plan, which may be inactive.
 * @throws ApiError 404 (code `error`) if the plan is unknown or belongs to another tenant
 */
export async function readRates(
  db: Database,
  tenantId: number,
  { rate_plan_id, check_in, check_out }: { rate_plan_id: string; check_in: DateText; check_out: DateText },
): Promise<Rate[]> {
  const plan = orNotFound(await store.findPlan(db, tenantId, rate_plan_id), 'rate plan');
  const dates = nightsOf(check_in, check_out);
  const nights = dates.map((date) => ({ rate_plan_id: plan.id, date }));
  const rows = new Map((await store.readNights(db, tenantId, nights)).map((row) => [row.date, row]));
  return dates.map((date) => {
    const row = rows.get(date);
    return { date, price: nightPrice(plan, row), is_sold_out: row?.is_sold_out ?? false };
  });
}

/**
 * Writes the nightly prices of one rate plan. If several entries have the same date, the last entry wins (rule 29).
 * @returns the written prices, sorted by date
 * @throws ApiError 404 (code `error`) if the plan is unknown or belongs to another tenant
 */
export async function writeRates(db: Database, actor: Actor, { rate_plan_id, rates }: RatesWrite): Promise<Rate[]> {
  const recordAudit = prepareAudit(actor);
  const byDate = new Map(
    rates.map(({ date, price, is_sold_out = false }) => [
      date,
      { date, price: formatMoney(String(price)), is_sold_out },
    ]),
  );
  const written = [...byDate.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
  await inTransaction(db, async (tx) => {
    await writeNights(tx, actor.tenantId, rate_plan_id, written, 'replace');
    await recordAudit(tx, { action: 'rates.written', subject: rate_plan_id, details: { entries: rates } });
  });
  return written;
}

/**
 * Writes restrictions of one rate plan. `stop_sell` applies to the date of its entry, and `min_nights` to the whole plan (PMS contract §4).
 * @throws ApiError 404 (code `error`) if the plan is unknown or belongs to another tenant
 */
export async function writeRestrictions(
  db: Database,
  actor: Actor,
  { rate_plan_id, restrictions: entries }: RestrictionsWrite,
): Promise<number> {
  const { tenantId } = actor;
  const recordAudit = prepareAudit(actor);
  const byDate = new Map(
    entries.map(({ date, stop_sell = false }) => [date, { date, price: null, is_sold_out: stop_sell }]),
  );
  const min_nights = entries.findLast((entry) => typeof entry.min_nights === 'number')?.min_nights;
  await inTransaction(db, async (tx) => {
    await writeNights(tx, tenantId, rate_plan_id, [...byDate.values()], 'keep');
    if (typeof min_nights === 'number') {
      await store.updatePlan(tx, tenantId, rate_plan_id, { min_nights });
    }
    await recordAudit(tx, { action: 'restrictions.written', subject: rate_plan_id, details: { entries } });
  });
  return entries.length;
}

/** Without the lock, two concurrent `MERGE` statements could both insert the same night, and the second one would fail. */
async function writeNights(
  tx: Tx,
  tenantId: number,
  planId: string,
  entries: Omit<store.PlanNight, 'rate_plan_id'>[],
  price: store.NightsWrite['price'],
): Promise<void> {
  await lockPlans(tx, tenantId, [planId]);
  const nights = entries.map((entry) => ({ ...entry, rate_plan_id: planId }));
  await store.storeNights(tx, { tenantId, nights, price });
}

const PLAN_DEFAULTS = { is_refundable: true, min_nights: 1, is_active: true };

/**
 * Creates and updates the rate plans of the tenant, so that they agree with the tenant document. A stored plan that the document does not
 * list becomes inactive.
 */
export async function applyRatePlans(
  tx: Tx,
  tenantId: number,
  roomTypes: { id: string; document: { rate_plans?: RatePlanDocument[] } }[],
  nameOfRoomType: (id: string) => string,
) {
  const stored = await store.readPlans(tx, tenantId);
  const wanted = roomTypes
    .flatMap(({ id, document }) => (document.rate_plans ?? []).map((plan) => ({ roomTypeId: id, plan })))
    .map(({ roomTypeId, plan: { base_price, ...plan } }, position) => ({
      tenant_id: tenantId,
      id: stored.find((row) => row.room_type_id === roomTypeId && row.name === plan.name)?.id ?? newId(),
      room_type_id: roomTypeId,
      position,
      base_price: formatMoney(base_price),
      ...PLAN_DEFAULTS,
      ...plan,
    }));
  const changed = changedRows(stored, wanted);
  if (changed.length > 0) {
    await store.upsertPlans(tx, rowsToWrite(changed));
  }
  return {
    plans: Map.groupBy(wanted, (plan) => plan.room_type_id),
    changes: describeListChanges('rate plan', changed, (plan) => `${nameOfRoomType(plan.room_type_id)} / ${plan.name}`),
  };
}
