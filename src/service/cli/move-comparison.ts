import { listTenants } from '#access/tenants/tenants.ts';
import { recount } from '#hotel/reservations/reservations.ts';
import type { Database } from '#platform/db/database.ts';
import type { MoveMarker } from '#platform/db/embedded/move-marker.ts';
import { countRows } from '#platform/db/transfer-counts.ts';
import type { TransferSource } from '#platform/db/transfer-source.ts';
import type { RowCounts } from '#platform/db/transfer-target.ts';
import { OperatorError } from '#platform/errors.ts';
import { showProgress } from './terminal.ts';

type Compared = Pick<MoveMarker, 'rows' | 'nights' | 'wrong_nights'>;

/**
 * Counts the rows of each table and the nights of each tenant in both databases.
 * @throws OperatorError if the databases differ
 */
export async function compareDatabases({ contents, db: from }: TransferSource, to: Database): Promise<Compared> {
  showProgress('Counting the rows in both databases …');
  const rows = await countRows(from, contents.tables);
  refuseOtherCounts(rows, await countRows(to, contents.tables));
  const compared: Compared = { rows, nights: 0, wrong_nights: 0 };
  for (const { id, slug } of await listTenants(from)) {
    showProgress(`Counting the nights of ${slug} in both databases …`);
    const [before, after] = [await recount(from, id), await recount(to, id)];
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      throw new OperatorError(
        `The nights of the tenant ${slug} differ after the copy: ${after.nights} in place of ${before.nights}, and ${after.differences.length} wrong counters in place of ${before.differences.length}. Nothing was moved.`,
      );
    }
    compared.nights += before.nights;
    compared.wrong_nights += before.differences.length;
  }
  return compared;
}

/** @throws OperatorError if a table has another number of rows */
export function refuseOtherCounts(before: RowCounts, after: RowCounts): void {
  const table = Object.keys(before).find((name) => after[name] !== before[name]);
  if (table !== undefined) {
    throw new OperatorError(
      `The table ${table} has ${after[table]} rows after the copy in place of ${before[table]}. Nothing was moved.`,
    );
  }
}
