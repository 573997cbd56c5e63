import { type Selectable, sql } from 'kysely';
import { type Db, type DB, isCluster, type Tx } from '#platform/db/database.ts';
import { excludedValues, Fields, selectEach } from '#platform/db/inputs.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { NightState } from './staff-schema.ts';

export type RatePlanRow = Selectable<DB['rate_plan']>;

export async function readPlans(db: Db, tenantId: number): Promise<RatePlanRow[]> {
  return await db
    .selectFrom('rate_plan')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
}

export async function findPlan(db: Db, tenantId: number, id: string): Promise<RatePlanRow | undefined> {
  return await db
    .selectFrom('rate_plan')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Each writer of the plans or of their rates takes this lock first. The rows are locked in the order of their ids, so that two writers of
 * several plans do not deadlock. Bookings under the plans do not wait for the lock.
 */
export async function lockPlans(tx: Tx, tenantId: number, ids: string[]): Promise<RatePlanRow[]> {
  return await tx
    .selectFrom('rate_plan')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Locks the rows in the order of their ids, as `lockPlans` does. */
export async function upsertPlans(tx: Tx, rows: RatePlanRow[]): Promise<void> {
  const key = ['tenant_id', 'id'] as const;
  await tx
    .insertInto('rate_plan')
    .values(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    .onConflict((conflict) => conflict.columns(key).doUpdateSet(excludedValues(rows, key)))
    .execute();
}

type PlanValues = Partial<Pick<RatePlanRow, 'base_price' | 'min_nights'>>;

export async function updatePlan(tx: Tx, tenantId: number, planId: string, values: PlanValues): Promise<void> {
  await tx.updateTable('rate_plan').set(values).where('tenant_id', '=', tenantId).where('id', '=', planId).execute();
}

/** A null price means that the plan's base price applies. */
export type PlanNight = Omit<Selectable<DB['rate']>, 'tenant_id'>;

interface NightsOfPlan {
  tenantId: number;
  planId: string;
  dates: DateText[];
}

const NIGHTS_OF_PLAN = new Fields<NightsOfPlan>({ tenantId: 'bigint', planId: 'uuid', dates: 'date[]' });

/** Reads those of the given nights that have their own price or restriction, by one statement for all plans. */
export async function readNights(
  db: Db,
  tenantId: number,
  nights: { rate_plan_id: string; date: DateText }[],
): Promise<PlanNight[]> {
  const plans = Array.from(
    Map.groupBy(nights, (night) => night.rate_plan_id),
    ([planId, own]) => ({ tenantId, planId, dates: own.map(({ date }) => date) }),
  );
  const rows = await selectEach(
    db,
    NIGHTS_OF_PLAN,
    plans,
    ({ tenantId: tenant, planId, dates }) => sql<{ nights: PlanNight[] | null }>`
      SELECT json_agg(r) AS nights FROM (
        SELECT rate_plan_id, date, price::text, is_sold_out FROM rate
        WHERE tenant_id = ${tenant} AND rate_plan_id = ${planId} AND date = ANY (${dates})
      ) AS r
    `,
  );
  return rows.flatMap((row) => row?.nights ?? []);
}

/** Nights of one room type, from `check_in` to the night before `check_out`. */
export interface StayRange {
  tenant_id: number;
  room_type_id: string;
  check_in: DateText;
  check_out: DateText;
}

export const STAY_RANGE = new Fields<StayRange>({
  tenant_id: 'bigint',
  room_type_id: 'uuid',
  check_in: 'date',
  check_out: 'date',
});

/** Rate plan with the nights of a range that have their own price or restriction. Each other night is open and costs `base_price`. */
export interface PlanCalendar {
  id: string;
  name: string;
  base_price: string;
  min_nights: number;
  is_active: boolean;
  nights: Record<DateText, NightState & { date: DateText }>;
}

/** Reads, for each range, all rate plans of its room type, active or not, in the order of the tenant document. */
export async function readCalendars(db: Db, ranges: StayRange[]): Promise<PlanCalendar[][]> {
  const rows = await selectEach(
    db,
    STAY_RANGE,
    ranges,
    ({ tenant_id, room_type_id, check_in, check_out }) => sql<{ plans: PlanCalendar[] | null }>`
      SELECT json_agg(json_build_object(
        'id', p.id, 'name', p.name, 'base_price', p.base_price::text, 'min_nights', p.min_nights, 'is_active', p.is_active,
        'nights', (
          SELECT coalesce(json_object_agg(r.date, r), '{}') FROM (
            SELECT date, price::text, is_sold_out FROM rate
            WHERE tenant_id = ${tenant_id} AND rate_plan_id = p.id AND date >= ${check_in} AND date < ${check_out}
          ) AS r
        )) ORDER BY p.position, p.id) AS plans
      FROM rate_plan AS p WHERE p.tenant_id = ${tenant_id} AND p.room_type_id = ${room_type_id}
    `,
  );
  return rows.map((row) => row?.plans ?? []);
}

export async function readSoldOutNights(db: Db, ranges: StayRange[]): Promise<DateText[][][]> {
  const rows = await selectEach(
    db,
    STAY_RANGE,
    ranges,
    ({ tenant_id, room_type_id, check_in, check_out }) => sql<{ plans: (DateText[] | null)[] | null }>`
      SELECT json_agg((
        SELECT json_agg(date) FROM rate
        WHERE tenant_id = ${tenant_id} AND rate_plan_id = p.id AND date >= ${check_in} AND date < ${check_out} AND is_sold_out
      )) AS plans
      FROM rate_plan AS p WHERE p.tenant_id = ${tenant_id} AND p.room_type_id = ${room_type_id} AND p.is_active
    `,
  );
  return rows.map((row) => (row?.plans ?? []).map((nights) => nights ?? []));
}

export interface NightsWrite {
  tenantId: number;
  nights: PlanNight[];
  /** Rule for a night that is stored already: `replace` overwrites its price, and `keep` leaves it unchanged. */
  price: 'replace' | 'keep';
}

/** The caller must hold the locks of the plans (`lockPlans`). The list has each night of a plan at most once. */
export async function storeNights(tx: Tx, write: NightsWrite): Promise<void> {
  await (isCluster(tx) ? upsertRates(tx, write) : mergeRates(tx, write));
}

/** Skips each night whose stored values are equal. Often most nights are equal, because a channel manager sends its whole calendar. */
async function mergeRates(tx: Tx, { tenantId, nights, price }: NightsWrite): Promise<void> {
  const kept = sql.ref(price === 'keep' ? 'rate.price' : 'given.price');
  const planIds = [...new Set(nights.map((night) => night.rate_plan_id))];
  // If all nights belong to one plan, the statement gets the id of this plan as a single value. An array that repeats the id for each night
  // would make a write of a channel manager take a quarter longer.
  const [ofNights, plan] =
    planIds.length === 1
      ? [[], sql`${planIds[0]}::uuid`]
      : [nights.map((night) => night.rate_plan_id), sql`given.rate_plan_id`];
  const dates = nights.map(({ date }) => date);
  const sorted = dates.toSorted();
  // The last two conditions of `ON` change no result. Without them, PostgreSQL would also read other plans, and nights before and after the
  // given dates.
  await sql`
    MERGE INTO rate USING unnest(${ofNights}::uuid[], ${dates}::date[], ${nights.map((night) => night.price)}::numeric[],
      ${nights.map((night) => night.is_sold_out)}::boolean[]) AS given (rate_plan_id, date, price, is_sold_out)
    ON rate.tenant_id = ${tenantId} AND rate.rate_plan_id = ${plan} AND rate.date = given.date
      AND rate.rate_plan_id = ANY (${planIds}::uuid[]) AND rate.date BETWEEN ${sorted[0]} AND ${sorted.at(-1)}
    WHEN MATCHED AND (rate.price, rate.is_sold_out) IS DISTINCT FROM (${kept}, given.is_sold_out)
      THEN UPDATE SET price = ${kept}, is_sold_out = given.is_sold_out
    WHEN NOT MATCHED THEN INSERT (tenant_id, rate_plan_id, date, price, is_sold_out)
      VALUES (${tenantId}, ${plan}, given.date, given.price, given.is_sold_out)
  `.execute(tx);
}

/** A cluster can route an `INSERT … VALUES`, but not a `MERGE` or an `INSERT … SELECT` (database rule 4). */
async function upsertRates(tx: Tx, { tenantId, nights, price }: NightsWrite): Promise<void> {
  const rows = nights.map((night) => ({ ...night, tenant_id: tenantId }));
  await tx
    .insertInto('rate')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'rate_plan_id', 'date']).doUpdateSet((eb) => ({
        price: eb.ref(price === 'keep' ? 'rate.price' : 'excluded.price'),
        is_sold_out: eb.ref('excluded.is_sold_out'),
      })),
    )
    .execute();
}
