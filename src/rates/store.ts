import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { DateText } from '../lib/dates.ts';

type Db = Database | Tx;

export interface RatePlanRow {
  id: string;
  room_type_id: string;
  position: number;
  name: string;
  base_price: string;
  is_refundable: boolean;
  min_nights: number;
  is_active: boolean;
}

const PLAN_COLUMNS = [
  'id',
  'room_type_id',
  'position',
  'name',
  'base_price',
  'is_refundable',
  'min_nights',
  'is_active',
] as const;

/** Every plan of the tenant, active or not, in the order of the tenant document. */
export async function readPlans(db: Db, tenantId: number): Promise<RatePlanRow[]> {
  return await db
    .selectFrom('rate_plan')
    .select(PLAN_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
}

export async function findPlan(db: Db, tenantId: number, id: string): Promise<RatePlanRow | undefined> {
  return await db
    .selectFrom('rate_plan')
    .select(PLAN_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function upsertPlans(tx: Tx, tenantId: number, rows: RatePlanRow[]): Promise<void> {
  await tx
    .insertInto('rate_plan')
    .values(rows.map((row) => ({ ...row, tenant_id: tenantId })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'id']).doUpdateSet((eb) => ({
        position: eb.ref('excluded.position'),
        base_price: eb.ref('excluded.base_price'),
        is_refundable: eb.ref('excluded.is_refundable'),
        min_nights: eb.ref('excluded.min_nights'),
        is_active: eb.ref('excluded.is_active'),
      })),
    )
    .execute();
}

export async function updateMinNights(tx: Tx, tenantId: number, planId: string, minNights: number): Promise<void> {
  await tx
    .updateTable('rate_plan')
    .set({ min_nights: minNights })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', planId)
    .execute();
}

/** What differs from the plan on one night; a null price is the plan's own. */
export interface RateRow {
  date: DateText;
  price: string | null;
  is_sold_out: boolean;
}

export async function readRates(
  db: Db,
  tenantId: number,
  planId: string,
  from: DateText,
  until: DateText,
): Promise<RateRow[]> {
  return await db
    .selectFrom('rate')
    .select(['date', 'price', 'is_sold_out'])
    .where('tenant_id', '=', tenantId)
    .where('rate_plan_id', '=', planId)
    .where('date', '>=', from)
    .where('date', '<', until)
    .execute();
}

export interface PlanNight extends RatePlanRow {
  date: DateText | null;
  price: string | null;
  is_sold_out: boolean | null;
}

/** The plans of a room type, each with what differs from it in the range: a row a difference, at least one a plan. */
export async function readPlanNights(
  db: Db,
  tenantId: number,
  roomTypeId: string,
  from: DateText,
  until: DateText,
): Promise<PlanNight[]> {
  return await db
    .selectFrom('rate_plan as p')
    .leftJoin('rate as r', (join) =>
      join
        .on('r.tenant_id', '=', tenantId)
        .onRef('r.rate_plan_id', '=', 'p.id')
        .on('r.date', '>=', from)
        .on('r.date', '<', until),
    )
    .select(PLAN_COLUMNS.map((column) => `p.${column}` as const))
    .select(['r.date', 'r.price', 'r.is_sold_out'])
    .where('p.tenant_id', '=', tenantId)
    .where('p.room_type_id', '=', roomTypeId)
    .orderBy('p.position')
    .orderBy('p.id')
    .execute();
}

/**
 * Writes many nights of one plan in one statement, in the order of their dates, in which every writer locks them.
 * @param keepPrice leaves the price of a night that has one as it is
 */
export async function upsertRates(
  tx: Tx,
  tenantId: number,
  planId: string,
  rates: RateRow[],
  { keepPrice }: { keepPrice: boolean },
): Promise<void> {
  const values = rates
    .toSorted((a, b) => (a.date < b.date ? -1 : 1))
    .map((rate) => ({ ...rate, tenant_id: tenantId, rate_plan_id: planId }));
  await tx
    .insertInto('rate')
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'rate_plan_id', 'date']).doUpdateSet({
        price: keepPrice ? sql.ref('rate.price') : sql.ref('excluded.price'),
        is_sold_out: sql.ref('excluded.is_sold_out'),
      }),
    )
    .execute();
}
