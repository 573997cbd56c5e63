import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { retrying } from '../db/failures.ts';
import { inTransaction } from '../db/transaction.ts';
import { type OpenKeyring, SecretDoesNotOpenError, versionBytes } from './keyring.ts';

/** Secrets read at a time. */
const BATCH_SIZE = 200;
/**
 * Before old keys go: longer than a process may need from reading a ciphertext to reading its key, where it does not know that yet
 * (8 s in the line for a connection, 5 s for one, 1 s between two looks).
 */
const GRACE_MS = 20_000;

export interface StoredSecret {
  id: string;
  /** What it is bound to; names it to the operator too. */
  location: string;
  ciphertext: Buffer;
}

/** A column of encrypted secrets, as the folder that owns it opens it to the rotation. */
export interface SecretColumn {
  /** The tenant's secrets whose ciphertext sorts before the given bytes, by id, after the given one. */
  readBefore(
    db: Database,
    tenantId: number,
    bytes: Buffer,
    afterId: string | null,
    limit: number,
  ): Promise<StoredSecret[]>;
  /** Puts a new ciphertext in the place of the given one. @returns false where another one has come to stand there */
  replace(tx: Tx, tenantId: number, secret: StoredSecret, ciphertext: Buffer): Promise<boolean>;
}

export interface Rotation {
  version: number;
  reencrypted: number;
  /** The versions that are gone; none where a secret did not open. */
  removed: number[];
  /** Whether it went on with a rotation that had begun before, in place of making a new key. */
  isResumed: boolean;
  /** The places of secrets that do not open; they are left as they are. */
  unopened: string[];
}

interface Options {
  db: Database;
  keyring: OpenKeyring;
  columns: SecretColumn[];
  /** Asked once the new key is there: a tenant that came before it may hold secrets of an older one. */
  listTenants: () => Promise<{ id: number; slug: string }[]>;
  /** Told what takes long. */
  progress: (message: string) => void;
  graceMs?: number;
}

/**
 * Replaces the encryption key while any number of processes run: makes a new one, encrypts every secret of every tenant with it, and
 * removes the old ones. May be interrupted and run again, and run by several at once.
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
  progress(`Letting work end that began with an older key: ${graceMs / 1000} s …`);
  await sleep(graceMs);
  await keyring.endRotation(version);
  return { version, reencrypted, removed: older, isResumed, unopened };
}

/** One column of one tenant. @returns how many secrets were encrypted anew */
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
      // A transaction each: with one row locked at a time there is nobody to deadlock with.
      const isReplaced = await inTransaction(db, async (tx) => {
        const ciphertext = await keyring.encrypt(tx, text, secret.location);
        return await column.replace(tx, tenantId, secret, ciphertext);
      });
      count += isReplaced ? 1 : 0;
    } catch (error) {
      if (!(error instanceof SecretDoesNotOpenError)) {
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
    batch = await retrying(() => column.readBefore(db, tenantId, versionBytes(version), afterId, BATCH_SIZE));
    yield* batch;
  } while (batch.length === BATCH_SIZE);
}
