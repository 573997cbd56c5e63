import type { Database } from '#platform/db/database.ts';
import { digestTables } from '#platform/db/transfer-digest.ts';
import type { TransferSource } from '#platform/db/transfer-source.ts';
import { OperatorError } from '#platform/errors.ts';
import { showProgress } from './terminal.ts';

type Digests = Awaited<ReturnType<typeof digestTables>>;

/**
 * Compares all rows of a copy with the rows of its source. Must run in the transaction that has made the copy.
 * @throws OperatorError if the rows of a table differ between the copy and the source
 */
export async function compareCopy({ contents, db }: TransferSource, copy: Database): Promise<void> {
  showProgress('Comparing the copy with the old data …');
  const before = await digestTables(db, contents.tables);
  refuseDifference(before, await digestTables(copy, contents.tables));
}

function refuseDifference(before: Digests, after: Digests): void {
  for (const [name, { rows, sum }] of before) {
    const copy = after.get(name);
    if (copy?.rows !== rows || copy.sum !== sum) {
      throw new OperatorError(
        `The copy of the table ${name} differs from the old table (copy: ${copy?.rows ?? 0} rows, old table: ${rows} rows). ` +
          'The copy was rolled back, and the old data is unchanged. Run the command again.',
      );
    }
  }
}
