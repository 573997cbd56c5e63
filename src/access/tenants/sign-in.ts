import { prepareAudit } from '../audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { apiError } from '#platform/errors.ts';
import { normaliseEmail } from './email.ts';
import { decoyHash, isPassword } from './passwords.ts';
import type { Feature, Role, SignInResponse } from './schema.ts';
import { type HashAddress, isKnownAddress, storeAddress } from './sign-in-addresses.ts';
import * as store from './store.ts';
import { issueToken, TOKEN_SECONDS } from './tokens.ts';

/** Result of `findAccount` for one sign-in attempt. */
export interface Account {
  /**
   * User with the e-mail of the attempt, or null for an unknown e-mail. `signIn` does the same work in both cases, so that the client sees
   * no difference.
   */
  user: store.SigningInUser | null;
  /** True if the user has signed in from the client address within the last 30 days. */
  isAddressKnown: boolean;
}

/**
 * Finds the user of an e-mail, and checks if the client address is known for this user.
 * @param network the client address or its IPv6 network, as `clientNetwork` returns it
 */
export async function findAccount(
  { db, hashAddress }: { db: Database; hashAddress: HashAddress },
  { email, network }: { email: string; network: string },
): Promise<Account> {
  const hashOf = (userId: string) => hashAddress(userId, network);
  const user = (await store.findSigningInUser(db, normaliseEmail(email), hashOf)) ?? null;
  return { user, isAddressKnown: isKnownAddress(user?.address.signed_in_at ?? null) };
}

interface SignInDependencies {
  db: Database;
  tokenKey: Buffer;
  /** Called if the address or the audit entry of a sign-in cannot be written. The sign-in itself goes on. */
  onError: (error: unknown) => void;
}

export interface SignInAttempt {
  password: string;
  /** Client address of the attempt. The audit entry of a failed attempt contains it. */
  address: string;
}

/**
 * Checks the password and issues an access token (decision 12).
 * @throws ApiError 401 `invalid_credentials` for an unknown e-mail, a wrong password or a disabled user, always the same error
 */
export async function signIn(
  { db, tokenKey, onError }: SignInDependencies,
  { user }: Account,
  { password, address }: SignInAttempt,
): Promise<SignInResponse> {
  const isRight = await isPassword(password, user?.password_hash ?? (await decoyHash()));
  if (user === null || !isRight || !user.is_active) {
    if (user !== null) {
      void writeFailure(db, user, address).catch(onError);
    }
    throw apiError('invalid_credentials', 'The e-mail or the password is wrong.', { 'www-authenticate': 'Bearer' });
  }
  const signedIn = { tenantId: user.tenant_id, userId: user.id, generation: user.generation };
  const { hash, signed_in_at: signedInAt } = user.address;
  await storeAddress(db, signedIn, { hash, signedInAt }).catch(onError);
  const { id, name, features } = user.tenant;
  return {
    access_token: await issueToken(tokenKey, signedIn),
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    role: user.role as Role,
    tenant: { id, name, features: features as Feature[] },
  };
}

/**
 * Writes the audit entry of a failed sign-in. The response does not wait for it, because the time of this write would show that
 * the e-mail belongs to a user.
 */
async function writeFailure(db: Database, user: store.UserRow, address: string): Promise<void> {
  const writeDown = prepareAudit({ tenantId: user.tenant_id, type: 'anonymous', id: null });
  await writeDown(db, { action: 'sign_in.failed', subject: user.id, details: { email: user.email, address } });
}
