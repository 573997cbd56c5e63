import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { selectEach } from '#platform/db/inputs.ts';
import { STAY_RANGE, type StayRange } from './store.ts';

/**
 * Active rate plan, with the nights of a range that have their own price or restriction. The three lists have one entry for each such
 * night: its distance from the first night of the range in days (`offsets`), its own price, or null if the price of the plan applies
 * (`prices`), and true if the night is closed (`sold_out`). The lists are null if the range has no such night.
 */
export interface PlanNights {
  id: string;
  name: string;
  base_price: string;
  min_nights: number;
  offsets: number[] | null;
  prices: (string | null)[] | null;
  sold_out: boolean[] | null;
}

/**
 * Reads the active rate plans of the room type of each range, in the order of the tenant document. A calendar has many nights, so the
 * values are in lists. The JSON of one object for each night would be three times as long.
 */
export async function readPlanNights(db: Database, ranges: StayRange[]): Promise<PlanNights[][]> {
  const rows = await selectEach(
    db,
    STAY_RANGE,
    ranges,
    ({ tenantId, roomTypeId, checkIn, checkOut }) => sql<{ plans: PlanNights[] | null }>`
      SELECT json_agg(json_build_object(
        'id', p.id, 'name', p.name, 'base_price', p.base_price::text, 'min_nights', p.min_nights,
        'offsets', n.offsets, 'prices', n.prices, 'sold_out', n.sold_out) ORDER BY p.position, p.id) AS plans
      FROM rate_plan AS p CROSS JOIN LATERAL (
        SELECT array_agg(date - ${checkIn}) AS offsets, array_agg(price::text) AS prices, array_agg(is_sold_out) AS sold_out
        FROM rate WHERE tenant_id = ${tenantId} AND rate_plan_id = p.id AND date >= ${checkIn} AND date < ${checkOut}
      ) AS n
      WHERE p.tenant_id = ${tenantId} AND p.room_type_id = ${roomTypeId} AND p.is_active
    `,
  );
  return rows.map((row) => row?.plans ?? []);
}
