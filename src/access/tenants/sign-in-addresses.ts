import { createHmac, hkdfSync } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import * as store from './store.ts';

/** Number of days for which a client address stays known for a user after the user's last sign-in from this address. */
const KNOWN_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum number of sign-in addresses that are stored for each user. The latest ones are kept. */
const MAX_ADDRESSES = 20;

/** Returns the keyed hash that is stored in place of an address. The same address has a different hash for each user. */
export type HashAddress = (userId: string, network: string) => Buffer;

export function createAddressHash(pepper: Buffer): HashAddress {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'sign-in-address', 32));
  return (userId, network) => createHmac('sha256', key).update(`${userId} ${network}`).digest();
}

/** Returns true if an address is known, because the user signed in from it within the last `KNOWN_DAYS` days. */
export function isKnownAddress(signedInAt: Date | null): boolean {
  return signedInAt !== null && signedInAt >= startOfDay(-KNOWN_DAYS);
}

/** Stores the address of a sign-in, and removes the user's addresses that are older than `KNOWN_DAYS` days. */
export async function storeAddress(
  db: Database,
  user: { tenantId: number; userId: string },
  address: { hash: Buffer; signedInAt: Date | null },
): Promise<void> {
  if (address.signedInAt !== null && address.signedInAt >= startOfDay(0)) {
    return;
  }
  const now = new Date();
  await inTransaction(db, async (tx) => {
    await store.upsertSignInAddress(tx, user, { hash: address.hash, signedInAt: now });
    await store.removeSignInAddresses(tx, user, { before: startOfDay(-KNOWN_DAYS), keep: MAX_ADDRESSES });
  });
}

/** Returns the start of a day in UTC. */
function startOfDay(days: number): Date {
  return new Date((Math.floor(Date.now() / DAY_MS) + days) * DAY_MS);
}
