import { OperatorError } from '../errors.ts';
import { namesOfThisVersion } from './migrate.ts';
import type { Contents } from './transfer-contents.ts';

/**
 * Refuses data of a newer version of the service.
 * @throws OperatorError if `migrations` lists migrations that this version of the code does not know
 */
export async function refuseNewer({ migrations }: Pick<Contents, 'migrations'>): Promise<void> {
  const known = new Set(await namesOfThisVersion());
  const newer = migrations.filter((name) => !known.has(name));
  if (newer.length > 0) {
    throw new OperatorError(
      `The data has migrations of a newer version of roomservice (${newer.join(', ')}). Install that version, and run the command again.`,
    );
  }
}
