import { sql } from 'kysely';
import { isCluster, type Tx } from '#platform/db/database.ts';
import type { PlanNight } from './store.ts';

/** New prices and restrictions for nights of rate plans. The list has each night of a plan at most once. */
export interface NightsWrite {
  tenantId: number;
  nights: PlanNight[];
  /** Rule for a night that the table `rate` already contains. `replace` overwrites the stored price, and `keep` leaves it unchanged. */
  price: 'replace' | 'keep';
}

/** Writes nights of rate plans in one statement. The caller must hold the locks of the plans (`lockPlans`). */
export async function storeNights(tx: Tx, write: NightsWrite): Promise<void> {
  await (isCluster(tx) ? upsertRates(tx, write) : mergeRates(tx, write));
}

/**
 * Writes the nights by `MERGE`, and skips each night whose stored values are equal to the new values. Often most nights are equal, because
 * a channel manager sends its whole calendar, even if few nights have changed. The statement takes arrays, so its text is the same for any
 * number of nights.
 */
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

/**
 * Writes the nights by `INSERT … ON CONFLICT`, for a database cluster. A cluster can route an `INSERT … VALUES` to the node of the tenant,
 * but it cannot route a `MERGE` or an `INSERT … SELECT` (architecture, database rule 4).
 */
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
