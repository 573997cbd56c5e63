import type { Actor } from '../audit/audit.ts';
import { announceChange, waitForLeasesToEnd } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { apiError } from '#platform/errors.ts';
import { createKeyMaker, newSecret } from './api-key.ts';
import { AUDIENCES, type Audience } from './audiences.ts';
import { auditDetails, changeCredential, refuseRevoked, type Target } from './changes.ts';
import type { CredentialSecret } from './schema.ts';
import type { LockedCredential } from './store.ts';

interface Dependencies {
  db: Database;
  keyring: Keyring;
}

export interface Rotated {
  secret: CredentialSecret;
  previousEndsAt: Date;
}

/**
 * Gives the credential a new secret. The replaced secret works for the minutes of the overlap, and all older secrets end. Resolves only
 * when no process of the service accepts an ended secret any more (decisions 15 and 41).
 * @throws ApiError 409 with the code `invalid_status_transition` if the credential is revoked, or if `keys discard` has made its API key
 * invalid
 */
export async function rotateSecret(
  { db, keyring }: Dependencies,
  actor: Actor,
  target: Target,
  overlapMinutes: number,
): Promise<Rotated> {
  const secret = newSecret();
  const rotated = await changeCredential(db, actor, target, async ({ tx, row, update, note }) => {
    refuseRevoked(row);
    const keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[row.audience as Audience].prefix);
    if (keyMaker.tenantOfApiKey(row.api_key) !== actor.tenantId) {
      throw apiError(
        'invalid_status_transition',
        'The API key stopped working when the operator discarded the keys of the service. Create a new credential.',
      );
    }
    const secret_hash = keyMaker.hashSecret(secret);
    // If the response to the COMMIT was lost, the transaction runs again, but this secret is stored already. A second change would make
    // this secret its own previous secret.
    if (row.secret_hash.equals(secret_hash)) {
      return row;
    }
    await announceChange(tx, actor.tenantId, 'credentials');
    const previous = previousSecret(row, overlapMinutes);
    const end = overlapMinutes === 0 ? {} : { previous_secret_ends_at: previous.previous_secret_ends_at };
    await note('credential.rotated', { ...auditDetails(row), ...end });
    return await update({ secret_hash, last_rotated_at: new Date(), ...previous });
  });
  await waitForLeasesToEnd();
  const { id, label, api_key } = rotated;
  // The type of the column allows null, but this rotation has set the time.
  const previousEndsAt = rotated.previous_secret_ends_at as Date;
  return { secret: { id, label, api_key, api_secret: secret }, previousEndsAt };
}

/**
 * The end of the overlap is a time of the database's clock, because each look-up of the credential compares it with this clock. If
 * `overlapMinutes` is 0, no hash is stored. So the old secret stays refused even if the clock of the database is set back.
 */
function previousSecret(row: LockedCredential, overlapMinutes: number) {
  return {
    previous_secret_hash: overlapMinutes === 0 ? null : row.secret_hash,
    previous_secret_ends_at: new Date(row.at.getTime() + overlapMinutes * 60_000),
  };
}
