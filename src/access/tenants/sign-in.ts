import { prepareAudit } from '../audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { apiError } from '#platform/errors.ts';
import { normaliseEmail } from './email.ts';
import { decoyHash, isPassword } from './passwords.ts';
import type { Feature, Role, SignInResponse } from './schema.ts';
import { type HashAddress, isKnownAddress, rememberAddress } from './sign-in-addresses.ts';
import * as store from './store.ts';
import { issueToken, TOKEN_SECONDS } from './tokens.ts';

/** Whom an e-mail names, and how they and the address that it came from stand to one another. */
export interface Account {
  /** Null where there is no such user: it goes on as if there were one, so that nothing tells. */
  user: store.SigningInUser | null;
  /** Whether the user has signed in from this address lately. */
  isAddressKnown: boolean;
}

/** @param network the address that the attempt comes from, as it counts (`clientNetwork`) */
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
  /** Told what could not be written down. */
  onError: (error: unknown) => void;
}

export interface SignInAttempt {
  password: string;
  /** Where it comes from, for the audit trail. */
  address: string;
}

/**
 * Checks the password and issues an access token (decision 12).
 * @throws ApiError 401 `invalid_credentials`, the same for an unknown e-mail, a wrong password and a disabled user
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
  await rememberAddress(db, signedIn, { hash, signedInAt }).catch(onError);
  const { id, name, features } = user.tenant;
  return {
    access_token: await issueToken(tokenKey, signedIn),
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    role: user.role as Role,
    tenant: { id, name, features: features as Feature[] },
  };
}

/** Written beside the answer, not before it: the time it takes would tell which e-mails there are. */
async function writeFailure(db: Database, user: store.UserRow, address: string): Promise<void> {
  const writeDown = prepareAudit({ tenantId: user.tenant_id, type: 'anonymous', id: null });
  await writeDown(db, { action: 'sign_in.failed', subject: user.id, details: { email: user.email, address } });
}
