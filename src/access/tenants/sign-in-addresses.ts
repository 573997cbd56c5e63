import { createHmac, hkdfSync } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import * as store from './store.ts';

/** For so many days after a sign-in from it an address is known, to the end of the last day in UTC. */
const KNOWN_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A user's latest. */
const MAX_ADDRESSES = 20;

/** The name that an address has for a user: under a key, and another one for each user. */
export type HashAddress = (userId: string, network: string) => Buffer;

export function createAddressHash(pepper: Buffer): HashAddress {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'sign-in-address', 32));
  return (userId, network) => createHmac('sha256', key).update(`${userId} ${network}`).digest();
}

/** Whether a user who signed in from an address at that moment is known there now; null: never. */
export function isKnownAddress(signedInAt: Date | null): boolean {
  return signedInAt !== null && signedInAt >= startOfDay(-KNOWN_DAYS);
}

/** Keeps a sign-in's address, the day's first one only, and forgets what is old. */
export async function rememberAddress(
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

/** @param days from today on */
function startOfDay(days: number): Date {
  return new Date((Math.floor(Date.now() / DAY_MS) + days) * DAY_MS);
}
