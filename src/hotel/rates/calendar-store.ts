import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { selectEach } from '#platform/db/inputs.ts';
import { STAY_RANGE, type StayRange } from './store.ts';

/**
 * Active rate plan, and the nights of a range that have their own price or restriction under this plan. Each of the three lists has one
 * entry for each such night:
 * - `offsets` has the number of days from the first night of the range to the night of the entry.
 * - `prices` has the own price of the night, or null if the price of the plan applies.
 * - `sold_out` has true if the night is closed.
 *
 * The lists are null if the range has no such night.
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
 * Reads the active rate plans of the room type of each range, in the order of the tenant document. The values of the nights are in lists,
 * because a calendar has many nights. JSON with one object for each night would be three times as long.
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
