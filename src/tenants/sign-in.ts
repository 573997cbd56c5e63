import { prepareAudit } from '../audit/audit.ts';
import type { Database } from '../db/database.ts';
import { apiError } from '../errors.ts';
import { normaliseEmail } from './email.ts';
import { decoyHash, isPassword } from './passwords.ts';
import type { Feature, Role, SignInResponse } from './schema.ts';
import * as store from './store.ts';
import { issueToken, TOKEN_SECONDS } from './tokens.ts';

export interface SignInAttempt {
  email: string;
  password: string;
  /** Where it comes from, for the audit trail. */
  address: string;
}

interface SignInDependencies {
  db: Database;
  tokenKey: Buffer;
  /** Told when a failed attempt could not be written down. */
  onError: (error: unknown) => void;
}

/**
 * Checks e-mail and password and issues an access token (decision 12). A failure for a known user is written down beside the
 * answer, not before it: the time it takes would tell which e-mails there are.
 * @throws ApiError 401 `invalid_credentials`, the same for an unknown e-mail, a wrong password and a disabled user
 */
export async function signIn(
  { db, tokenKey, onError }: SignInDependencies,
  { email, password, address }: SignInAttempt,
): Promise<SignInResponse> {
  const user = await store.findUserByEmail(db, normaliseEmail(email));
  const isRight = await isPassword(password, user?.password_hash ?? (await decoyHash()));
  if (user === undefined || !isRight || !user.is_active) {
    if (user !== undefined) {
      const writeDown = prepareAudit({ tenantId: user.tenant_id, type: 'anonymous', id: null });
      void writeDown(db, { action: 'sign_in.failed', subject: user.id, details: { email: user.email, address } }).catch(
        onError,
      );
    }
    throw apiError('invalid_credentials', 'The e-mail or the password is wrong.', { 'www-authenticate': 'Bearer' });
  }
  const { id, name, features } = user.tenant;
  return {
    access_token: await issueToken(tokenKey, { tenantId: id, userId: user.id, generation: user.generation }),
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    role: user.role as Role,
    tenant: { id, name, features: features as Feature[] },
  };
}
