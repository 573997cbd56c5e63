import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { withRetries } from '../db/failures.ts';
import { inTransaction } from '../db/transaction.ts';
import { type OpenKeyring, SecretDecryptionError, versionBytes } from './keyring.ts';

/** Maximum number of secrets that one query reads. */
const BATCH_SIZE = 200;
/**
 * Time in milliseconds that a rotation waits before it deletes the old keys. Another process may have read a ciphertext, but not yet the
 * key that decrypts it. It needs at most 14 s to read the key: 8 s in the queue for a database connection, 5 s to connect, and 1 s of
 * waiting. The waiting is needed because each process queries for new keys at most once a second.
 */
const GRACE_MS = 20_000;

export interface StoredSecret {
  id: string;
  /**
   * Name of the place where the secret is stored. The ciphertext can be decrypted only with this name. Messages for the operator contain
   * this name.
   */
  location: string;
  ciphertext: Buffer;
}

/** Functions that read and replace the encrypted secrets in one column of a table. They are part of the module that owns the table. */
export interface SecretColumn {
  /**
   * Reads at most `limit` encrypted secrets of the tenant, in the order of their ids. Begins after the id `afterId`, or with the first id
   * if `afterId` is null.
   *
   * Reads only secrets whose ciphertext sorts before `bytes`. Each ciphertext begins with the version of its key. So if `bytes` is a
   * version, the result has only secrets with an older key.
   */
  readBefore(
    db: Database,
    tenantId: number,
    bytes: Buffer,
    afterId: string | null,
    limit: number,
  ): Promise<StoredSecret[]>;
  /**
   * Replaces the ciphertext of a secret, but only if the stored ciphertext still equals `secret.ciphertext`.
   * @returns true if the ciphertext was replaced
   */
  replace(tx: Tx, tenantId: number, secret: StoredSecret, ciphertext: Buffer): Promise<boolean>;
}

/** Result of a rotation of the encryption key. */
export interface Rotation {
  /**
   * Version of the encryption key that replaces the older keys. If this rotation continued an earlier rotation, the earlier rotation made
   * this key.
   */
  version: number;
  /** Number of secrets that this rotation has encrypted with the newest key. */
  reencrypted: number;
  /** Versions of the keys that were deleted. Empty if a secret could not be decrypted, because the rotation then keeps the old keys. */
  removed: number[];
  /** True if this rotation made no new key, because it continued an earlier rotation. */
  isResumed: boolean;
  /** Locations of the secrets that could not be decrypted. Their ciphertexts are not changed. */
  unopened: string[];
}

interface Options {
  db: Database;
  keyring: OpenKeyring;
  columns: SecretColumn[];
  /**
   * Lists all tenants. The rotation calls this function only after it has made the new key. So it needs no tenant that is created later,
   * because the secrets of such a tenant are encrypted with the new key.
   */
  listTenants: () => Promise<{ id: number; slug: string }[]>;
  /** Receives a message for the operator before each slow step. */
  progress: (message: string) => void;
  graceMs?: number;
}

/**
 * Replaces the encryption key while any number of processes run. Makes a new key, encrypts all secrets of all tenants with it, and deletes
 * the old keys. After an interruption, the operator can run the rotation again. Several rotations may run at the same time.
 */
export async function rotateEncryptionKey(options: Options): Promise<Rotation> {
  const { keyring, columns, listTenants, progress, graceMs = GRACE_MS } = options;
  const { version, older, isResumed } = await keyring.beginRotation();
  const unopened: string[] = [];
  let reencrypted = 0;
  for (const { id, slug } of await listTenants()) {
    progress(`Encrypting the secrets of ${slug} with key ${version} …`);
    for (const column of columns) {
      reencrypted += await reencrypt(options, column, id, version, unopened);
    }
  }
  if (unopened.length > 0) {
    return { version, reencrypted, removed: [], isResumed, unopened };
  }
  progress(`Waiting ${graceMs / 1000} s until work that uses an older key has ended …`);
  await sleep(graceMs);
  await keyring.endRotation(version);
  return { version, reencrypted, removed: older, isResumed, unopened };
}

/**
 * Encrypts the secrets in one column of one tenant again with the newest key, if they have an older key.
 * @returns the number of secrets that were encrypted again
 */
async function reencrypt(
  { db, keyring }: Options,
  column: SecretColumn,
  tenantId: number,
  version: number,
  unopened: string[],
): Promise<number> {
  let count = 0;
  for await (const secret of readOutdated(db, column, tenantId, version)) {
    try {
      const text = await keyring.decrypt(secret.ciphertext, secret.location);
      // Each secret has its own transaction, because a transaction that locks only one row cannot cause a deadlock.
      const isReplaced = await inTransaction(db, async (tx) => {
        const ciphertext = await keyring.encrypt(tx, text, secret.location);
        return await column.replace(tx, tenantId, secret, ciphertext);
      });
      count += isReplaced ? 1 : 0;
    } catch (error) {
      if (!(error instanceof SecretDecryptionError)) {
        throw error;
      }
      unopened.push(secret.location);
    }
  }
  return count;
}

async function* readOutdated(
  db: Database,
  column: SecretColumn,
  tenantId: number,
  version: number,
): AsyncGenerator<StoredSecret> {
  let batch: StoredSecret[] = [];
  do {
    const afterId = batch.at(-1)?.id ?? null;
    batch = await withRetries(() => column.readBefore(db, tenantId, versionBytes(version), afterId, BATCH_SIZE));
    yield* batch;
  } while (batch.length === BATCH_SIZE);
}
